// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockNames;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.util.ClassUtils;

/**
 * A lock registry for Spring Integration, with a mutex for each key. From version 7 on, its locks are instances of
 * {@code DistributedLock}.
 */
@SuppressWarnings("rawtypes") // generic in Spring Integration 7
record IntegrationLocks(ZooKeeperClient client) implements RenewableLockRegistry {
    private static final String DISTRIBUTED = "org.springframework.integration.support.locks.DistributedLock";

    /**
     * Returns the mutex of a key. Throws {@link IllegalArgumentException} if the key is not a string or another value
     * that has the same text in every process.
     */
    private InterProcessMutex mutex(Object key, @Nullable Duration timeToLive) {
        LockOptions options = LockOptions.defaults().withName("registry");
        return new InterProcessMutex(
                client,
                "/locks/integration/" + LockNames.nodeOf(key),
                timeToLive == null ? options : options.withHoldAtMost(timeToLive));
    }

    @Override
    public Lock obtain(Object key) {
        Lock plain = mutex(key, null).asLock();
        ClassLoader loader = IntegrationLocks.class.getClassLoader();
        if (!ClassUtils.isPresent(DISTRIBUTED, loader)) {
            return plain;
        }
        ProxyFactory proxies = new ProxyFactory(plain);
        proxies.addInterface(ClassUtils.resolveClassName(DISTRIBUTED, loader));
        proxies.addAdvice((MethodInterceptor) call -> {
            Object[] given = call.getArguments();
            if (given.length == 0 || !(given[given.length - 1] instanceof Duration timeToLive)) {
                return call.proceed();
            }
            Lock limited = mutex(key, timeToLive).asLock();
            if (given.length == 1) {
                limited.lock();
                return null;
            }
            return limited.tryLock(TimeUnit.NANOSECONDS.convert((Duration) given[0]), TimeUnit.NANOSECONDS);
        });
        return (Lock) proxies.getProxy(loader);
    }

    /** Only checks that this thread holds the lock: the session keeps it alive. */
    @Override
    public void renewLock(Object key) {
        renewLock(key, null);
    }

    /**
     * Prolongs the hold of this thread; the interface has this method from Spring Integration 7 on. Neither the
     * re-entry nor its release sends a request.
     */
    public void renewLock(Object key, @Nullable Duration timeToLive) {
        InterProcessMutex mutex = mutex(key, null);
        if (mutex.isHeldByCurrentThread()) {
            try (Lease again = mutex.tryAcquire().orElseThrow()) {
                if (timeToLive != null) {
                    again.prolong(timeToLive);
                }
                if (again.isValid()) {
                    return;
                }
            }
        }
        throw new IllegalStateException("this thread does not hold the lock " + mutex.path()
                + ", or the connection is lost and nobody knows whether it still does");
    }
}

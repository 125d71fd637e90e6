// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockNames;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.util.ClassUtils;

/** The lock of a key for Spring Integration: from its version 7 on a {@code DistributedLock}. */
final class RegistryLock {
    private static final String DISTRIBUTED = "org.springframework.integration.support.locks.DistributedLock";
    private static final LockOptions OPTIONS = LockOptions.defaults().withName("registry");

    private RegistryLock() {}

    /** Throws {@link IllegalArgumentException} if the key is neither a string nor another value with one text. */
    static Lock of(ZooKeeperClient client, Object key) {
        String path = "/locks/integration/" + LockNames.nodeOf(key);
        Lock plain = new InterProcessMutex(client, path, OPTIONS).asLock();
        ClassLoader loader = RegistryLock.class.getClassLoader();
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
            Lock limited = new InterProcessMutex(client, path, OPTIONS.withHoldAtMost(timeToLive)).asLock();
            if (given.length == 1) {
                limited.lock();
                return null;
            }
            return limited.tryLock(((Duration) given[0]).toNanos(), TimeUnit.NANOSECONDS);
        });
        return (Lock) proxies.getProxy(loader);
    }
}

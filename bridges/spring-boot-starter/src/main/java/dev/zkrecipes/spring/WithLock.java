// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean under a lock, which all processes that name the same path share.
 *
 * <pre>{@code
 * @WithLock("/orders/{#id}")
 * void ship(String id) {
 *     ...
 * }
 * }</pre>
 *
 * <p>The lock is an {@link dev.zkrecipes.mutex.InterProcessMutex}, or one side of an {@link
 * dev.zkrecipes.rwlock.InterProcessReadWriteLock}: fair, and re-entrant for the thread. An argument of the type {@link
 * dev.zkrecipes.core.Lease} gets the lease, for its fencing token or its guard, whatever the caller passes (null, for
 * example); do not close it. The lock is acquired before a transaction begins, and released after it is committed or
 * rolled back. A method that is called within a transaction keeps it until that has ended. If it is lost before the
 * commit, the transaction is rolled back. The caller of a method whose lock was lost gets a {@link
 * dev.zkrecipes.core.LockLostException} in place of the result: another process may have done the same meanwhile.
 *
 * <p>A call from within the same object bypasses Spring's proxy, and takes no lock. The context does not start with an
 * annotated method that could never have the lock, being private, static, final or called by Spring past the proxy, as
 * one with {@code @PostConstruct} is; nor with one whose work goes on after it has returned, as that of a {@code
 * Future}, a reactive type, a {@code Stream} or a {@code StreamingResponseBody} does, also as a type argument. If only
 * the call shows that, its caller gets an {@link IllegalStateException} in place of the result.
 *
 * <p>When the client is closed, it waits for the methods at work, for {@code zkrecipes.close-timeout} at most, and lets
 * none begin.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface WithLock {

    /**
     * The path of the lock, with expressions of Spring's language in braces. They see the arguments of the method by
     * name ({@code #id}, if it was compiled with {@code -parameters}) or number ({@code #a0}), and the bean as
     * {@code #root}. Each must give a value that {@link dev.zkrecipes.core.spi.LockNames} accepts, such as a string, an
     * integral number, an enum or a UUID; null, an empty text or one with a slash fails the call, so that no argument
     * leads to another path. An argument whose type is never accepted fails the start. Placeholders {@code ${...}} are
     * resolved when the context starts.
     *
     * @return an absolute path, below the namespace of the client
     */
    String value();

    /**
     * How long to wait for the lock at most, such as {@code 500ms}, {@code 2s} or {@code PT1M}; {@code 0s} for not at
     * all. May have placeholders. A call that fails then asks once who holds the lock, and waits for the answer no
     * longer than the client's request time-out.
     *
     * @return the time; empty for the property {@code zkrecipes.wait-at-most}
     */
    String waitAtMost() default "";

    /**
     * How long the lock is held at most, such as {@code 5m}. When that is over and the method still works, the lock is
     * lost as after {@link dev.zkrecipes.core.LockOptions#withHoldAtMost}: others get it, the method works on, its
     * transaction is rolled back, and the caller gets the exception. May have placeholders. A method that re-enters the
     * lock has the time of the outer hold.
     *
     * @return the time; empty for no limit
     */
    String holdAtMost() default "";

    /**
     * Which lock. All that name a path use either {@link Mode#MUTEX}, or {@link Mode#READ} and {@link Mode#WRITE}: a
     * mutex and a read-write lock on one path refuse each other.
     *
     * @return the mode
     */
    Mode mode() default Mode.MUTEX;

    /** Which lock. */
    enum Mode {
        /** One holder. */
        MUTEX,
        /** The shared side of a read-write lock. From within it, a call with {@link #WRITE} is refused at once. */
        READ,
        /** The exclusive side of a read-write lock. */
        WRITE
    }

    /**
     * What a call does that does not get the lock in time.
     *
     * @return whether it fails or does nothing
     */
    IfBusy ifBusy() default IfBusy.FAIL;

    /** What a call does that does not get the lock in time. */
    enum IfBusy {
        /** It throws {@link LockNotAcquiredException}. */
        FAIL,
        /**
         * It returns without running the method: an empty {@code Optional}, or null for any other type. A method that
         * returns a primitive is refused when the context starts.
         */
        SKIP
    }
}

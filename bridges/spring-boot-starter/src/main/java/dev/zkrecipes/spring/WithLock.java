// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean under a lock, which is shared by all processes that use the same path.
 *
 * <pre>{@code
 * @WithLock("/orders/{#id}")
 * void ship(String id) {
 *     ...
 * }
 * }</pre>
 *
 * <p>The lock is an {@link dev.zkrecipes.mutex.InterProcessMutex}, or one side of an
 * {@link dev.zkrecipes.rwlock.InterProcessReadWriteLock}: fair, and re-entrant for the thread. A parameter of the type
 * {@link dev.zkrecipes.core.Lease} receives the lease, for its fencing token or its guard, whatever the caller passes
 * (null, for example); do not close it. The lock is acquired before a transaction begins, and released after it is
 * committed or rolled back. A method that is called within a transaction keeps the lock until the transaction has
 * ended. If the lock is lost before the commit, the transaction is rolled back. The caller of a method whose lock was
 * lost gets a {@link dev.zkrecipes.core.LockLostException} in place of the result: another process may have done the
 * same meanwhile.
 *
 * <p>A call from within the same object bypasses Spring's proxy, and takes no lock. So does Spring's own call of the
 * init method or destroy method that a bean definition names. The context does not start with an annotated method that
 * could never have the lock because it is private, static, final, visible only in another package, called by Spring
 * past the proxy, such as one with {@code @PostConstruct}, or of a bean without a proxy, such as an {@code @Aspect}.
 * Nor does it start with a method whose work continues after it has returned: one that returns a {@code Future}, a
 * reactive type, a {@code Stream} or a {@code StreamingResponseBody}, also as a type argument. If only the call
 * reveals that, its caller gets an {@link IllegalStateException} in place of the result.
 *
 * <p>When the client is closed, it waits for the running methods, for {@code zkrecipes.close-timeout} at most, and lets
 * no other method begin.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface WithLock {

    /**
     * The path of the lock, with expressions of the Spring Expression Language in braces. They refer to the arguments
     * of the method by name ({@code #id}, if it was compiled with {@code -parameters}) or number ({@code #a0}), and to
     * the bean as {@code #root}. Each must evaluate to a value that {@link dev.zkrecipes.core.spi.LockNames} accepts,
     * such as a string, an integral number, an enum or a UUID. With null, an empty text or a text with a slash the call
     * fails, so that no argument leads to another path. With an argument whose type is never accepted, the context does
     * not start. Placeholders {@code ${...}} are resolved when the context starts.
     *
     * @return an absolute path, below the namespace of the client
     */
    String value();

    /**
     * How long to wait for the lock at most, such as {@code 500ms}, {@code 2s} or {@code PT1M}; {@code 0s} for not at
     * all. May contain placeholders. A call that does not get the lock then asks ZooKeeper once who holds it, and waits
     * for the answer no longer than the client's request time-out.
     *
     * @return the time; empty for the property {@code zkrecipes.wait-at-most}
     */
    String waitAtMost() default "";

    /**
     * How long the lock is held at most, such as {@code 5m}. If the method still runs when this time has elapsed, the
     * lock is lost, as with {@link dev.zkrecipes.core.LockOptions#withHoldAtMost}: others get it, the method continues,
     * its transaction is rolled back, and the caller gets the exception. May contain placeholders. A method that
     * re-enters the lock has the time of the outer hold.
     *
     * @return the time; empty for no limit
     */
    String holdAtMost() default "";

    /**
     * The kind of lock. All users of a path must use either {@link Mode#MUTEX}, or {@link Mode#READ} and
     * {@link Mode#WRITE}: a mutex and a read-write lock on one path refuse each other.
     *
     * @return the mode
     */
    Mode mode() default Mode.MUTEX;

    /** The kind of lock. */
    enum Mode {
        /** A mutex, which has one holder at a time. */
        MUTEX,
        /** The shared side of a read-write lock. A call with {@link #WRITE} from within it is refused at once. */
        READ,
        /** The exclusive side of a read-write lock. */
        WRITE
    }

    /**
     * What a call does if it does not get the lock in time.
     *
     * @return whether it fails or does nothing
     */
    IfBusy ifBusy() default IfBusy.FAIL;

    /** What a call does if it does not get the lock in time. */
    enum IfBusy {
        /** The call throws {@link LockNotAcquiredException}. */
        FAIL,
        /**
         * The call returns without running the method: an empty {@code Optional}, or null for any other type. A method
         * that returns a primitive is refused when the context starts.
         */
        SKIP
    }
}

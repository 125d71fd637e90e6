// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a ZooKeeper server. Each parameter of type {@link EmbeddedZooKeeper} gets the server of
 * the top-level class: parameters of test methods, of life-cycle methods and of the constructor.
 *
 * <pre>{@code
 * @WithZooKeeper
 * class OrdersIT {
 *     @Test
 *     void createdNodeIsThere(EmbeddedZooKeeper server) { ... }
 * }
 * }</pre>
 *
 * <p>There is one server for each top-level test class, shared by its {@code @Nested} classes. The server starts when
 * the first parameter requires it, and is closed after the last test of the class. Nodes created by a test stay, so use
 * a separate path for each test. If a test has stopped the server, it is restarted with the same data for the next
 * test.
 *
 * <p>The annotation may also be put on a nested class. If several classes around a test have it, the attributes of the
 * outermost one apply.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(ZooKeeperExtension.class)
public @interface WithZooKeeper {
    /**
     * {@return how often the server checks for expired sessions, in milliseconds} The shortest session time-out is two
     * ticks.
     */
    int tickTimeMillis() default 500;

    /** {@return how often the server removes containers that have become empty, in milliseconds} */
    int containerCheckMillis() default 60_000;
}

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
 * Gives the tests of a class a ZooKeeper server: each parameter of type {@link EmbeddedZooKeeper}, of a test method, a
 * life-cycle method or the constructor, gets the server of the top-level class.
 *
 * <pre>{@code
 * @WithZooKeeper
 * class OrdersIT {
 *     @Test
 *     void createdNodeIsThere(EmbeddedZooKeeper server) { ... }
 * }
 * }</pre>
 *
 * <p>There is one server for each top-level test class, which its {@code @Nested} classes share. It starts when the
 * first parameter asks for it and is closed after the last test of the class. What tests leave in it stays there: use a
 * path of its own for each test. A test that finds it stopped by an earlier one gets it restarted, with what it held.
 * On a nested class the annotation works as on the top-level class, except for its attributes: if the top-level class
 * has the annotation, its attributes apply.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@ExtendWith(ZooKeeperExtension.class)
public @interface WithZooKeeper {
    /**
     * {@return how often the server looks for expired sessions, in milliseconds} The shortest session time-out is two
     * ticks.
     */
    int tickTimeMillis() default 500;

    /** {@return how often the server removes containers that have become empty, in milliseconds} */
    int containerCheckMillis() default 60_000;
}

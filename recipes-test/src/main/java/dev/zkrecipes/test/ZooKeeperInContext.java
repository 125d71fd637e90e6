// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Gives the application context of a Spring test its own ZooKeeper server, which the client of the Spring Boot starter
 * uses. The server is a bean, and its address is set as the property {@code zkrecipes.connect-string}.
 *
 * <pre>{@code
 * @SpringBootTest
 * @ZooKeeperInContext
 * class OrdersTest {
 *     @Autowired
 *     EmbeddedZooKeeper server;
 * }
 * }</pre>
 *
 * <p>Tests that share a cached context share its server. The server starts before all beans, and is closed after them.
 * The annotation works with every version of JUnit that Spring's test framework supports.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface ZooKeeperInContext {}

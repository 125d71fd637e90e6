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
 * Gives the application context of a Spring test a ZooKeeper server of its own, which the client of the Spring Boot
 * starter uses: its address is the property {@code zkrecipes.connect-string}, and the server is a bean.
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
 * <p>Tests that share a cached context share its server. It starts before all beans, and is closed after them. It works
 * with every JUnit that Spring's tests work with.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface ZooKeeperInContext {}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Locks in Spring Boot 3.5, 4.0 and 4.1: {@link dev.zkrecipes.spring.ZkRecipesAutoConfiguration} configures a client
 * from the properties {@code zkrecipes.*}, and {@link dev.zkrecipes.spring.WithLock} runs a method under a lock. The
 * page for users is {@code docs/spring.md}.
 */
@NullMarked
package dev.zkrecipes.spring;

import org.jspecify.annotations.NullMarked;

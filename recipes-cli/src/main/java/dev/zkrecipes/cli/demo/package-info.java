// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock demo}: processes share a lock, and one is killed while it holds.
 *
 * <p>{@code Demo} starts the workers and kills one. {@code DemoWorker} is a worker process, and {@code DemoRecipe}
 * says what a worker holds. The demo and the workers write what happens into one {@code Ledger}, a file that does not
 * depend on the locks. {@code DemoVerdict} and {@code Picture} look at nothing but that file and the counters beside
 * it.
 */
@NullMarked
package dev.zkrecipes.cli.demo;

import org.jspecify.annotations.NullMarked;

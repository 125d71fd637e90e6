// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock demo}: processes share a lock, and one is killed while it holds.
 *
 * <p>{@code Demo} starts the workers and kills one; {@code DemoWorker} is a worker process, which holds whatever its
 * {@code DemoRecipe} says. Both write what happens into one {@code Ledger}, a file that does not know the locks;
 * {@code DemoVerdict} and {@code Picture} are made from it alone.
 */
@NullMarked
package dev.zkrecipes.cli.demo;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock demo}: processes share a lock, and one of them is killed while it holds the lock.
 *
 * <p>{@code Demo} starts the workers, each a {@code DemoWorker} in a process of its own, and kills one. The demo and
 * the workers write what happens into one {@code Ledger}, a file that does not depend on the lock. {@code DemoVerdict}
 * and {@code Picture} look at nothing but that file and the counter beside it.
 */
@NullMarked
package dev.zkrecipes.cli.demo;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock demo}: worker processes that share one lock, one of them killed while it holds.
 *
 * <p>Three kinds of JVM, all started from the same class path:
 *
 * <ul>
 *   <li>the demo itself: {@link dev.zkrecipes.cli.demo.DemoCommand} reads the options, {@code Demo} sets the stage,
 *       plays a {@code Scenario} and prints its {@code Verdict};
 *   <li>{@code ServerCommand}: a ZooKeeper server, unless {@code --connect} names one;
 *   <li>{@code WorkerCommand}: connects and runs the {@code WorkerBody} of the recipe.
 * </ul>
 *
 * <p>A child reports each {@code Event} on a line of its standard output, and gets an {@code Order} per line on
 * its standard input. The end of that input means that the demo is dead: the child ends, and takes the demo's folder
 * with it. So nothing outlives a demo that was killed.
 *
 * <p>A {@code Recipe} names a scenario and a worker body; everything else is common to the recipes. Those of the mutex
 * are {@code MutexScenario}, {@code MutexVerdict} and {@code MutexWorker}, with the {@code CounterFile} that they
 * share.
 */
@NullMarked
package dev.zkrecipes.cli.demo;

import org.jspecify.annotations.NullMarked;

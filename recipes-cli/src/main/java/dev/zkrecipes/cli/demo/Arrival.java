// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/**
 * An event and when the demo heard of it. Events of one worker arrive in their order; those of two may overtake each
 * other, by as much as a thread of the demo can be late.
 *
 * @param nanos on the clock of the demo's JVM
 * @param event what happened
 */
record Arrival(long nanos, Event event) {}

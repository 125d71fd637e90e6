// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.CounterFile.Counter;
import java.util.List;
import java.util.Optional;

/**
 * All that the verdict on the mutex is about.
 *
 * @param increments as reported, in the order of arrival
 * @param file what the counter file says at the end
 * @param takeOver what came of the kill; empty if nobody was killed
 * @param limit how long a take-over may take
 * @param troubles what went wrong with the processes, a sentence each
 * @param leftOver nodes below the lock path at the end
 */
record MutexHistory(
        List<Increment> increments,
        Counter file,
        Optional<TakeOver> takeOver,
        TakeOverLimit limit,
        List<String> troubles,
        List<String> leftOver) {}

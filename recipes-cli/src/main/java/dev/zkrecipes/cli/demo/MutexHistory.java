// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.CounterFile.Counter;
import java.util.List;

/**
 * The input of the verdict on the mutex.
 *
 * @param increments as reported, in the order of arrival
 * @param file the content of the counter file at the end
 * @param ending how the run ended
 */
record MutexHistory(List<Increment> increments, Counter file, Ending ending) {}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code bin/faults}: what becomes of this library's mutex, Curator's and the textbook's under the same faults.
 * {@link dev.zkrecipes.bench.faults.Arena} has the processes, {@link dev.zkrecipes.bench.faults.FaultClient} is one
 * of them, {@link dev.zkrecipes.bench.faults.FaultVerdict} judges.
 */
@NullMarked
package dev.zkrecipes.bench.faults;

import org.jspecify.annotations.NullMarked;

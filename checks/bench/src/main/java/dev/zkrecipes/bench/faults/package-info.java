// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code bin/faults}: plays the same faults on this library's mutex, Curator's, and the textbook's, which is that of
 * ZooKeeper's documentation. {@link dev.zkrecipes.bench.faults.Arena} starts the servers and clients and plays the
 * faults, {@link dev.zkrecipes.bench.faults.FaultClient} is one client process, and
 * {@link dev.zkrecipes.bench.faults.FaultVerdict} judges what a lock did.
 */
@NullMarked
package dev.zkrecipes.bench.faults;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The ZooKeeper server of a benchmark, in a process of its own. */
@NullMarked
package dev.zkrecipes.bench.server;

import org.jspecify.annotations.NullMarked;

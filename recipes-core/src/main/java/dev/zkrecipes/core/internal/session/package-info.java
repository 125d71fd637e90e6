// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** One ZooKeeper session: its state, the proof that it lives, and the nodes that are kept and checked with it. */
@NullMarked
package dev.zkrecipes.core.internal.session;

import org.jspecify.annotations.NullMarked;

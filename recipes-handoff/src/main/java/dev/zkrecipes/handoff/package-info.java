// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@link dev.zkrecipes.handoff.HandoffMutex}, which passes from one waiter to the next inside a process without a
 * request to ZooKeeper.
 */
@NullMarked
package dev.zkrecipes.handoff;

import org.jspecify.annotations.NullMarked;

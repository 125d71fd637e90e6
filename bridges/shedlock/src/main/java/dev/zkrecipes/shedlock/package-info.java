// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Locks for jobs on a schedule: {@link dev.zkrecipes.shedlock.ZooKeeperLockProvider} for ShedLock. */
@NullMarked
package dev.zkrecipes.shedlock;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Elects one leader among the processes that stand for a path; see {@link dev.zkrecipes.leader.LeaderElection}. */
@NullMarked
package dev.zkrecipes.leader;

import org.jspecify.annotations.NullMarked;

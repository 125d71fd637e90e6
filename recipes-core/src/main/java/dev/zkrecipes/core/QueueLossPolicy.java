// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** What a waiting acquire does when its place in the queue is lost: its session ended or its node was deleted. */
public enum QueueLossPolicy {
    /** Queue again, at the end. The default. */
    REQUEUE,
    /** End with a {@link QueuePlaceLostException}. */
    FAIL
}

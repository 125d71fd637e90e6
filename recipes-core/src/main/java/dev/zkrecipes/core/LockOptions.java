// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.util.Objects;

/**
 * How a lock behaves where there is a choice. Immutable; start from {@link #defaults()}.
 *
 * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
 */
public record LockOptions(QueueLossPolicy queueLossPolicy) {

    private static final LockOptions DEFAULTS = new LockOptions(QueueLossPolicy.REQUEUE);

    /**
     * Makes options.
     *
     * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
     */
    public LockOptions {
        Objects.requireNonNull(queueLossPolicy, "queueLossPolicy");
    }

    /**
     * The options that a lock has unless told otherwise: {@link QueueLossPolicy#REQUEUE}.
     *
     * @return the default options
     */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * These options with another queue-loss policy.
     *
     * @param policy what a waiting acquire does when its place in the queue is gone
     * @return the changed copy
     */
    public LockOptions withQueueLossPolicy(QueueLossPolicy policy) {
        return new LockOptions(policy);
    }
}

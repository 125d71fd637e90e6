// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import org.jspecify.annotations.Nullable;

/** One armed fault: what it does to which packet. The counting down is guarded by {@link FaultRules}. */
final class FaultRule {
    /** What the rule does. */
    enum Kind {
        DROP_REQUEST(true),
        HOLD_REQUEST(true),
        DROP_REPLY(true),
        HOLD_REPLY(true),
        DROP_EVENT(false),
        HOLD_EVENT(false);

        /** Replies are counted by their requests: only those tell their type. */
        private final boolean countsRequests;

        Kind(boolean countsRequests) {
            this.countsRequests = countsRequests;
        }

        boolean isOnRequest() {
            return this == DROP_REQUEST || this == HOLD_REQUEST;
        }
    }

    private final Kind kind;
    private final @Nullable RequestType type;
    private final Signal signal;
    private final @Nullable Held held;
    private int left;

    FaultRule(Kind kind, @Nullable RequestType type, int nth, Signal signal, @Nullable Held held) {
        if (nth < 1) {
            throw new IllegalArgumentException("packets are counted from 1, not " + nth);
        }
        this.kind = kind;
        this.type = type;
        this.left = nth;
        this.signal = signal;
        this.held = held;
    }

    /** Takes note of a request, or with null of an event; returns whether it is the one. */
    boolean countDown(@Nullable RequestType passing) {
        return kind.countsRequests == (passing != null) && type == passing && --left == 0;
    }

    Kind kind() {
        return kind;
    }

    Signal signal() {
        return signal;
    }

    @Nullable
    Held held() {
        return held;
    }
}

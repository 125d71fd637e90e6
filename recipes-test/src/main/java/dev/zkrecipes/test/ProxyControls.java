// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;

/** What all streams of one proxy obey. After a change here, wake the streams. */
final class ProxyControls {
    final FaultRules rules = new FaultRules();
    final RequestCounter requestsSeen = new RequestCounter();

    private volatile boolean requestsPaused;
    private volatile boolean repliesPaused;
    private volatile long latencyNanos;

    void pause(boolean requests, boolean replies) {
        requestsPaused = requests;
        repliesPaused = replies;
    }

    void pauseRequests() {
        requestsPaused = true;
    }

    void pauseReplies() {
        repliesPaused = true;
    }

    boolean isPaused(boolean requests) {
        return requests ? requestsPaused : repliesPaused;
    }

    void latency(Duration oneWay) {
        latencyNanos = oneWay.toNanos();
    }

    long latencyNanos() {
        return latencyNanos;
    }
}

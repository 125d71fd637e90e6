// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The requests of one connection that were forwarded and not answered, with the faults that wait for their replies. A
 * reply names its request by {@code xid}; pings and their like share one, and are answered in order. Thread-safe.
 */
final class PendingReplies {
    /** Stands for the connect request, which has no {@code xid}; no client uses this one. */
    static final int CONNECT_XID = Integer.MIN_VALUE;

    private final Map<Integer, Deque<List<FaultRule>>> pending = new HashMap<>();

    /** To be called before the request goes out, or the reply may be faster. */
    synchronized void sent(int xid, List<FaultRule> onReply) {
        pending.computeIfAbsent(xid, key -> new ArrayDeque<>()).add(onReply);
    }

    synchronized List<FaultRule> answered(int xid) {
        Deque<List<FaultRule>> sameXid = pending.get(xid);
        if (sameXid == null) {
            return List.of();
        }
        List<FaultRule> rules = sameXid.remove();
        if (sameXid.isEmpty()) {
            pending.remove(xid);
        }
        return rules;
    }

    /** The connection is gone: no reply will come any more. */
    void giveUp() {
        List<FaultRule> lost = new ArrayList<>();
        synchronized (this) {
            pending.values().forEach(sameXid -> sameXid.forEach(lost::addAll));
            pending.clear();
        }
        lost.forEach(rule -> rule.signal().giveUp("the connection ended before the reply came"));
    }
}

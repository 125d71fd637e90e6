// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import java.util.ArrayList;
import java.util.List;

/** What a user may expect of the holds of one lock that two threads share: DESIGN's rules, without a server. */
final class HoldModel {

    /** One open hold and the thread that acquired it. */
    private record Hold(int id, int thread) {}

    /** What a call does. */
    enum Answer {
        DONE,
        BUSY,
        NOT_OWNER
    }

    private final boolean byThread;
    private final List<Hold> open = new ArrayList<>();
    private final List<Integer> owners = new ArrayList<>();

    HoldModel(boolean byThread) {
        this.byThread = byThread;
    }

    Answer tryAcquire(int thread) {
        boolean mayEnter = open.isEmpty() || (byThread && open.get(0).thread() == thread);
        if (!mayEnter) {
            return Answer.BUSY;
        }
        open.add(new Hold(owners.size(), thread));
        owners.add(thread);
        return Answer.DONE;
    }

    Answer release(int thread) {
        if (holdCount(thread) == 0) {
            return Answer.NOT_OWNER;
        }
        open.remove(open.size() - 1); // those that are open together have one owner
        return Answer.DONE;
    }

    Answer close(int lease, int thread) {
        boolean isOpen = open.stream().anyMatch(hold -> hold.id() == lease);
        if (isOpen && byThread && owners.get(lease) != thread) {
            return Answer.NOT_OWNER;
        }
        open.removeIf(hold -> hold.id() == lease);
        return Answer.DONE;
    }

    int leases() {
        return owners.size();
    }

    boolean isOpen(int lease) {
        return open.stream().anyMatch(hold -> hold.id() == lease);
    }

    int holdCount(int thread) {
        return (int) open.stream()
                .filter(hold -> !byThread || hold.thread() == thread)
                .count();
    }

    boolean isHeld() {
        return !open.isEmpty();
    }
}

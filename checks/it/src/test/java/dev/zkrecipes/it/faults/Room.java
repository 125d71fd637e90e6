// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.faults;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;

/** What a lock protects: each holder inside takes up room, and room is limited. */
final class Room {
    private final String name;
    private final int size;
    private final Queue<String> violations;
    private final AtomicInteger taken = new AtomicInteger();

    Room(String name, int size, Queue<String> violations) {
        this.name = name;
        this.size = size;
        this.violations = violations;
    }

    void enter(int weight) {
        int now = taken.addAndGet(weight);
        if (now > size) {
            violations.add(now + " inside " + name + ", which has room for " + size);
        }
    }

    void leave(int weight) {
        taken.addAndGet(-weight);
    }

    /** Makes room for others without leaving; nobody may have come in meanwhile. */
    void shrink(int from, int to) {
        int others = taken.get() - from;
        if (others != 0) {
            violations.add(others + " beside a writer in " + name);
        }
        taken.addAndGet(to - from);
    }
}

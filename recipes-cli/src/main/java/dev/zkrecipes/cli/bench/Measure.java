// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

/** What is measured, in this order. */
enum Measure {
    CREATE("create", "node created: one round trip"),
    MUTEX("mutex", "mutex: acquire and release"),
    SEMAPHORE("semaphore", "semaphore: acquire and release 1 of 3"),
    MULTI_LOCK("multi-lock", "multi-lock: acquire and release 3 paths"),
    HAND_OVER("hand-over", "hand-over to another session"),
    CONTENDED("contended", "all sessions want one mutex");

    private final String id;
    private final String title;

    Measure(String id, String title) {
        this.id = id;
        this.title = title;
    }

    /** For programs. */
    String id() {
        return id;
    }

    /** For people. */
    String title() {
        return title;
    }
}

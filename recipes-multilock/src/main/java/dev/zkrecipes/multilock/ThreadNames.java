// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

/** What to call threads in messages. Virtual threads have no name unless they are given one. */
final class ThreadNames {
    private ThreadNames() {}

    /** The name of a thread; its id if it has no name. */
    static String of(Thread thread) {
        String name = thread.getName();
        return name.isBlank() ? "#" + thread.getId() : name;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.internal.wire.Printable;

/** What to call a thread in messages. Virtual threads have no name unless they are given one. */
public final class ThreadName {
    private ThreadName() {}

    /** The name of a thread, fit to print; its id if it has no name. */
    public static String of(Thread thread) {
        String name = thread.getName();
        return name.isBlank() ? "#" + thread.getId() : Printable.of(name);
    }

    /** That of the calling thread. */
    public static String ofCaller() {
        return of(Thread.currentThread());
    }
}

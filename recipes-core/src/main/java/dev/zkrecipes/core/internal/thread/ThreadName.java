// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.internal.wire.Printable;

/** What messages call a thread. Virtual threads have no name unless they are given one. */
public final class ThreadName {
    private ThreadName() {}

    /** The name of a thread, fit to print; {@code #} and its id if it has none. */
    public static String of(Thread thread) {
        String name = thread.getName();
        return name.isBlank() ? "#" + thread.getId() : Printable.of(name);
    }

    public static String ofCaller() {
        return of(Thread.currentThread());
    }
}

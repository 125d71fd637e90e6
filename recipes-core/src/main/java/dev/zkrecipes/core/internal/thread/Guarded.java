// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs one of several actions that must all run, even if one of them fails. */
public final class Guarded {
    private static final Logger log = LoggerFactory.getLogger(Guarded.class);

    private Guarded() {}

    public static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable t) {
            tell(t);
        }
    }

    public static <T> void accept(Consumer<T> task, T value) {
        try {
            task.accept(value);
        } catch (Throwable t) {
            tell(t);
        }
    }

    private static void tell(Throwable failure) {
        log.error("The lock engine failed; please report this with the stack trace.", failure);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.internal.thread.EngineThreads;

/**
 * Closes a client when the JVM ends in order: by {@code System.exit}, the end of the last thread, SIGTERM, SIGINT
 * (Ctrl-C) or SIGHUP. Any thread.
 */
public final class ShutdownHook {
    private final Thread thread;

    private ShutdownHook(Runnable close) {
        this.thread = EngineThreads.atShutdown(close);
    }

    /** Makes one that is registered; closes the client and throws if it is too late for that. */
    public static ShutdownHook register(Runnable close) {
        ShutdownHook hook = new ShutdownHook(close);
        try {
            Runtime.getRuntime().addShutdownHook(hook.thread);
        } catch (IllegalStateException e) {
            close.run();
            throw new IllegalStateException(
                    "the JVM is shutting down, so a client with closeOnShutdown() cannot be made any more", e);
        }
        return hook;
    }

    /** The client is closed: nothing is left to do, and the JVM need not remember it. */
    public void remove() {
        try {
            Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException e) {
            // The JVM is shutting down, and this may be the hook's own thread.
        }
    }
}

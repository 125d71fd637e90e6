// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.internal.thread.Completion;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * What threads wait to be told once by the server: they end with the client, whatever has become of its engine.
 * Thread-safe.
 */
public final class Questions {
    private final Set<Runnable> open = ConcurrentHashMap.newKeySet(); // what ends each of them
    private final Function<String, ClientClosedException> closedFor;
    private volatile boolean closed;

    public Questions(Function<String, ClientClosedException> closedFor) {
        this.closedFor = closedFor;
    }

    /** A question about a lock. It is open until the future completes, and fails when the client is closed. */
    <T> CompletableFuture<T> open(String lockPath) {
        CompletableFuture<T> question = new CompletableFuture<>();
        Runnable end = () -> question.completeExceptionally(closedFor.apply(lockPath));
        open.add(end);
        Completion.on(question, (answer, failure) -> open.remove(end));
        if (closed) { // looked at afterwards: whoever closes ends those that are open then
            end.run();
        }
        return question;
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    /** None is answered any more. */
    public void close() {
        closed = true;
        open.forEach(Runnable::run);
    }
}

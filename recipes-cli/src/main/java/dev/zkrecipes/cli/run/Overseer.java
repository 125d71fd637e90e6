// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static java.util.stream.Collectors.joining;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.RevocationRequest;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Ends the command when its lock is lost or asked for. */
final class Overseer {
    private final ChildGroup child;
    private final RunSettings settings;
    private final Notes notes;
    private @Nullable CompletableFuture<Void> ending;

    Overseer(ChildGroup child, RunSettings settings, Notes notes) {
        this.child = child;
        this.settings = settings;
        this.notes = notes;
    }

    void watch(Lease lease) {
        lease.onLost(this::lost);
        lease.onRevocationRequested(this::asked);
    }

    /** If the command is being ended, waits until its whole group is gone, not only the command itself. */
    void awaitQuiet() throws InterruptedException {
        CompletableFuture<Void> begun;
        synchronized (this) {
            begun = ending;
        }
        if (begun != null) {
            try {
                begun.get();
            } catch (ExecutionException e) {
                // Whoever failed has said so.
            }
        }
    }

    /** The lock is lost. */
    void lost() {
        react(settings.onLost(), "the lock " + settings.lock() + " is lost");
    }

    private void asked(RevocationRequest request) {
        react(settings.onRevoke(), request.requester() + " asks for the lock " + settings.lock());
    }

    private void react(Reaction reaction, String why) {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        boolean ends = reaction == Reaction.TERM;
        if (ends && isFirst(mine)) {
            end(why, mine);
        } else {
            notes.warn(why + "; the command " + (ends ? "is being ended" : "continues"));
        }
    }

    /** Begins to end the command before it says so: standard error may block. */
    private void end(String why, CompletableFuture<Void> done) {
        try {
            ChildGroup.Ending begun = child.beginEnding(settings.grace());
            notes.warn(why + "; the command is being ended");
            reportUnkillable(begun.await());
            done.complete(null);
        } catch (IOException | RuntimeException | InterruptedException | Error e) {
            done.completeExceptionally(e);
            notes.warn(why + ", but the command cannot be ended: " + e);
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether this is the first reason to end the command, which is ended once, on whichever thread is first. */
    private synchronized boolean isFirst(CompletableFuture<Void> mine) {
        if (ending != null) {
            return false;
        }
        ending = mine;
        return true;
    }

    private void reportUnkillable(Set<ProcessHandle> left) {
        if (!left.isEmpty()) {
            notes.warn("still running after KILL: "
                    + left.stream()
                            .map(ProcessHandle::pid)
                            .sorted()
                            .map(String::valueOf)
                            .collect(joining(", ")));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.RevocationRequest;
import java.io.IOException;
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
                notes.warn("cannot end the command: " + e.getCause());
            }
        }
    }

    private void lost() {
        boolean ends = settings.onLost() == Reaction.TERM;
        notes.warn("the lock " + settings.lock() + " is lost; the command " + (ends ? "is being ended" : "continues"));
        if (ends) {
            end();
        }
    }

    private void asked(RevocationRequest request) {
        boolean ends = settings.onRevoke() == Reaction.TERM;
        notes.warn(request.requester() + " asks for the lock " + settings.lock() + "; the command "
                + (ends ? "is being ended" : "continues"));
        if (ends) {
            end();
        }
    }

    /** Once, on whichever thread is first. */
    private void end() {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        synchronized (this) {
            if (ending != null) {
                return;
            }
            ending = mine;
        }
        try {
            child.end(settings.grace());
            mine.complete(null);
        } catch (IOException | RuntimeException e) {
            mine.completeExceptionally(e);
        } catch (InterruptedException e) {
            mine.completeExceptionally(e);
            Thread.currentThread().interrupt();
        }
    }
}

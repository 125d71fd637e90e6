// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ExitCodes;
import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Receives signals. Before the command runs they end zklock, which leaves the queue. While it runs they go to the
 * command. QUIT is not among them: the JVM handles it itself and prints its threads.
 */
final class SignalDesk {
    private static final Set<String> ENDING = Set.of("TERM", "INT", "HUP");
    private static final List<String> ALL = List.of("TERM", "INT", "HUP", "USR1", "USR2", "TSTP", "CONT");

    private final Thread waiter;
    private final Notes notes;
    private @Nullable ChildGroup child;
    private int ended;
    private boolean over;

    /** The thread is interrupted when a signal ends the wait. */
    SignalDesk(Thread waiter, Notes notes) {
        this.waiter = waiter;
        this.notes = notes;
    }

    void open() {
        ALL.forEach(name -> SystemSignals.handle(name, number -> receive(name, number)));
    }

    /** Something that starts the command. */
    @FunctionalInterface
    interface Start {
        ChildGroup start() throws IOException, InterruptedException;
    }

    /** Starts the command, unless a signal came first; later ones go to the command. */
    synchronized ChildGroup hand(Start start) throws IOException, InterruptedException {
        if (ended != 0) {
            throw new InterruptedException();
        }
        ChildGroup started = start.start();
        child = started;
        return started;
    }

    /** The command has ended. Signals have no effect from now on, as zklock is about to end. */
    synchronized void close() {
        child = null;
        over = true;
    }

    /** The exit code if a signal ended the wait. */
    synchronized OptionalInt exitCode() {
        return ended == 0 ? OptionalInt.empty() : OptionalInt.of(ExitCodes.SIGNALLED + ended);
    }

    private synchronized void receive(String name, int number) {
        try {
            if (child != null) {
                child.signal(name);
            } else if (!over && ended == 0 && ENDING.contains(name)) {
                ended = number;
                waiter.interrupt();
            }
            if (name.equals("TSTP") && (child == null || !child.isKept())) {
                stopMyself();
            }
        } catch (IOException e) {
            notes.warn("cannot pass on SIG" + name + ": " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void stopMyself() throws IOException, InterruptedException {
        ProcessGroup.shell(
                        "kill -s STOP \"$1\"",
                        String.valueOf(ProcessHandle.current().pid()))
                .waitFor();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The command and the processes that it has started. They have zklock's standard input, output and error. */
final class ChildGroup {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(20);
    /** For the dead to be gone. KILL does not end what waits for a broken disk, or belongs to another user. */
    private static final Duration LAST_WAIT = Duration.ofSeconds(5);

    private final Process process;
    /** Whether the process is the keeper of the terminal, and the command its child. */
    private final boolean kept;

    private final ProcessGroup group;
    private final @Nullable Guard guard;

    private ChildGroup(Process process, boolean kept, ProcessGroup group, @Nullable Guard guard) {
        this.process = process;
        this.kept = kept;
        this.group = group;
        this.guard = guard;
    }

    /**
     * Starts the command. The calling thread must live as long as zklock: if a command asks for a signal at the death
     * of its parent, as with {@code setpriv --pdeathsig}, Linux sends it when the thread that started the command ends.
     *
     * @param guarded the time between TERM and KILL if zklock is killed; empty to let the command continue then
     */
    static ChildGroup start(List<String> command, Map<String, String> added, Optional<Duration> guarded)
            throws IOException, InterruptedException {
        Launcher launcher = new Launcher(Optional.ofNullable(System.getenv("PATH")));
        Guard guard = guarded.isPresent() ? Guard.start(launcher.ownSession().orElse(List.of()), guarded.get()) : null;
        boolean kept = launcher.isInForeground();
        ProcessBuilder builder = new ProcessBuilder(kept ? launcher.keeping(command) : launcher.detached(command));
        builder.inheritIO().environment().putAll(added);
        Process process = builder.start();
        ProcessGroup group = new ProcessGroup(kept ? commandOf(process) : process.pid());
        if (guard != null) {
            if (kept && group.id() != process.pid()) {
                guard.watchKeeper(process.pid());
            }
            guard.watch(group);
        }
        return new ChildGroup(process, kept, group, guard);
    }

    /**
     * The keeper's child, which is the command; the keeper itself if it has become the command or has already ended.
     */
    private static long commandOf(Process keeper) throws InterruptedException {
        while (keeper.isAlive()) {
            Optional<ProcessHandle> child = keeper.children().findFirst();
            if (child.isPresent()) {
                return child.get().pid();
            }
            TimeUnit.NANOSECONDS.sleep(LOOK_AGAIN.toNanos() / 20);
        }
        return keeper.pid();
    }

    /** Waits for the command: its own exit code, or 128 and the number of the signal that ended it. */
    int awaitExit() throws InterruptedException {
        return process.waitFor();
    }

    /** Ends the guard: the command has ended, or zklock no longer looks after it. */
    void dismiss() {
        if (guard != null) {
            guard.dismiss();
        }
    }

    /** Passes a signal on. TSTP does not stop a group without a terminal (POSIX calls it orphaned), so it gets STOP. */
    void signal(String name) throws IOException, InterruptedException {
        group.signal(!kept && name.equals("TSTP") ? "STOP" : name);
        if (kept && name.equals("CONT")) {
            ProcessGroup.shell("kill -s CONT \"$1\"", String.valueOf(process.pid()))
                    .waitFor();
        }
    }

    /** Whether there is a keeper, which stops zklock when the command is stopped. */
    boolean isKept() {
        return kept;
    }

    /** Begins to end the whole group: TERM, then KILL for what is left after the grace period. Returns at once. */
    Ending beginEnding(Duration grace) throws IOException {
        return new Ending(grace);
    }

    /** The end of the group. */
    final class Ending {
        private final long deadline;
        private final Set<ProcessHandle> tree;
        private final Process ending;

        private Ending(Duration grace) throws IOException {
            deadline = System.nanoTime() + grace.toNanos();
            tree = descendants();
            ending = group.end(grace);
        }

        /**
         * Also kills processes that have left the group but still descend from the command. Returns when none runs any
         * more, or a few seconds after the KILL: those that run even then.
         */
        Set<ProcessHandle> await() throws InterruptedException {
            while (System.nanoTime() < deadline && (ending.isAlive() || isAnyRunning(tree))) {
                TimeUnit.NANOSECONDS.sleep(LOOK_AGAIN.toNanos());
                tree.addAll(descendants());
            }
            tree.addAll(descendants());
            if (!kept) {
                tree.add(process.toHandle());
            }
            tree.forEach(ProcessHandle::destroyForcibly);
            ending.waitFor();
            return Liveness.runningAfter(LAST_WAIT, tree);
        }
    }

    private Set<ProcessHandle> descendants() {
        return process.descendants().collect(HashSet::new, Set::add, Set::addAll);
    }

    private static boolean isAnyRunning(Set<ProcessHandle> processes) {
        return processes.stream().anyMatch(Liveness::isRunning);
    }
}

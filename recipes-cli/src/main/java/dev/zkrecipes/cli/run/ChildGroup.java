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

/** The command and whatever it has started. Standard input, output and error are zklock's. */
final class ChildGroup {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

    private final Process process;
    /** The keeper of the terminal is the process then, and the command its child. */
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
     * Starts the command. The thread that calls this must not end before zklock does: Linux tells a command that asked for a
     * signal at the death of its parent, as with {@code setpriv --pdeathsig}, when the thread that started it ends.
     *
     * @param guarded the time between TERM and KILL if zklock is killed; empty to let the command run on then
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

    /** The keeper's child, which is the command; the keeper itself if it has become the command, or is over already. */
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

    /** The command is over, or is none of our business any more. */
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

    /** Whether the command stopping stops zklock, which the keeper sees to. */
    boolean isKept() {
        return kept;
    }

    /**
     * Ends the whole group: TERM, and KILL for what is left when the grace is over. What has left the group but still descends
     * from the command is killed as well. Returns when nothing is left.
     */
    void end(Duration grace) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + grace.toNanos();
        Set<ProcessHandle> tree = new HashSet<>(descendants());
        Process ending = group.end(grace);
        while (System.nanoTime() < deadline && (ending.isAlive() || isAnyAlive(tree))) {
            TimeUnit.NANOSECONDS.sleep(LOOK_AGAIN.toNanos());
            tree.addAll(descendants());
        }
        tree.addAll(descendants());
        tree.forEach(ProcessHandle::destroyForcibly);
        if (!kept) {
            process.destroyForcibly();
        }
        ending.waitFor();
        while (isAnyAlive(tree)) {
            TimeUnit.NANOSECONDS.sleep(LOOK_AGAIN.toNanos());
        }
    }

    private Set<ProcessHandle> descendants() {
        return process.descendants().collect(HashSet::new, Set::add, Set::addAll);
    }

    private static boolean isAnyAlive(Set<ProcessHandle> processes) {
        return processes.stream().anyMatch(ProcessHandle::isAlive);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ExitCodes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Gives a command a process group of its own, which Java cannot do.
 *
 * <p>In the foreground of a terminal a shell with job control does it as for any command typed into it: the command is
 * the foreground group, so Ctrl-C, Ctrl-\ and Ctrl-Z go straight to it and it may read from the terminal. Everywhere
 * else {@code setsid} or, where that is missing, {@code perl} becomes the command. Without either the command stays in
 * zklock's group, and is ended process by process.
 */
final class Launcher {
    /** Exits with 0 if standard input, output and error are a terminal, and zklock is in its foreground. */
    private static final String IN_FOREGROUND = """
            [ -t 0 ] && [ -t 1 ] && [ -t 2 ] || exit 1
            set -- $(ps -o pgid= -o tpgid= -p "$1")
            [ -n "$1" ] && [ "$1" = "$2" ]
            """;

    /**
     * The keeper. When the command is stopped, the keeper stops zklock's whole job, so that the user's shell takes the
     * terminal. It is stopped first itself, so that it cannot miss the CONT with which zklock wakes it. The trap of INT
     * is for shells that kill themselves with INT when INT has killed their job. The others are for signals to every
     * process of the session: zklock would take the death of the keeper for that of the command. Standard error is left
     * alone, since some shells find their terminal by it.
     */
    private static final String KEEPER = "zklock=$1; shift\n"
            + "trap : INT TERM HUP QUIT USR1 USR2\n"
            + "set -m\n"
            + "case $- in *m*) ;; *) echo 'zklock: this shell has no job control' >&2; exit " + ExitCodes.INTERNAL
            + " ;; esac\n"
            + "\"$@\"\n"
            + "code=$?\n"
            + "while [ \"$code\" -gt 128 ] && jobs %% >/dev/null 2>&1; do\n"
            + "  sh -c 'group=$(ps -o pgid= -p \"$2\" | tr -d \" \")\n"
            + "    kill -s STOP \"$1\"; kill -s STOP -- \"-$group\"' zklock $$ \"$zklock\"\n"
            + "  fg >/dev/null\n"
            + "  code=$?\n"
            + "done\n"
            + "exit \"$code\"\n";

    private static final String BY_PERL = "setpgrp(0, 0); exec { $ARGV[0] } @ARGV; exit 126";

    private final Optional<String> searchPath;

    Launcher(Optional<String> searchPath) {
        this.searchPath = searchPath;
    }

    /** Whether to hand over the terminal. */
    boolean isInForeground() throws IOException, InterruptedException {
        return new ProcessBuilder(
                                ProcessGroup.SHELL,
                                "-c",
                                IN_FOREGROUND,
                                "zklock",
                                String.valueOf(ProcessHandle.current().pid()))
                        .inheritIO()
                        .start()
                        .waitFor()
                == 0;
    }

    /** The command behind the keeper, which hands it the terminal. */
    List<String> keeping(List<String> command) {
        String self = String.valueOf(ProcessHandle.current().pid());
        return join(List.of(ProcessGroup.SHELL, "-c", KEEPER, "zklock", self), command);
    }

    /**
     * The command behind a tool that gives it a group of its own. The tool becomes the command, so the process id
     * stays.
     */
    List<String> detached(List<String> command) {
        return join(ownSession().or(this::ownGroup).orElse(List.of()), command);
    }

    /** The tool that starts a session of its own; empty if it is missing. */
    Optional<List<String>> ownSession() {
        return Executable.find("setsid", searchPath).map(tool -> List.of(tool, "--"));
    }

    private Optional<List<String>> ownGroup() {
        return Executable.find("perl", searchPath).map(tool -> List.of(tool, "-e", BY_PERL, "--"));
    }

    private static List<String> join(List<String> prefix, List<String> command) {
        List<String> all = new ArrayList<>(prefix);
        all.addAll(command);
        return all;
    }
}

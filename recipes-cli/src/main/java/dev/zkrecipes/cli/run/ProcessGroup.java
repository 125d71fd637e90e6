// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A process group, or a lone process where the system has no tool to make one. Java cannot signal a group: the shell does. */
final class ProcessGroup {
    static final String SHELL = "/bin/sh";

    /** Picks what to signal: the group with that number, if there is one. */
    private static final String TARGET =
            "if kill -s 0 -- \"-$1\"; then target=\"-$1\"; else target=$1; fi 2>/dev/null\n";

    private static final String SIGNAL = TARGET + "kill -s \"$2\" -- \"$target\" 2>/dev/null\n";

    /** TERM, grace, KILL. A stopped process must continue to see the TERM. Not every sleep accepts fractions. */
    static final String END = TARGET + "kill -s TERM -- \"$target\" 2>/dev/null\n"
            + "kill -s CONT -- \"$target\" 2>/dev/null\n"
            + "tenths=$2\n"
            + "while [ \"$tenths\" -gt 0 ] && kill -s 0 -- \"$target\" 2>/dev/null; do\n"
            + "  if sleep 0.1 2>/dev/null; then tenths=$((tenths - 1)); else sleep 1; tenths=$((tenths - 10)); fi\n"
            + "done\n"
            + "kill -s KILL -- \"$target\" 2>/dev/null\n";

    private final long id;

    ProcessGroup(long id) {
        this.id = id;
    }

    long id() {
        return id;
    }

    /** Sends a signal to all of it, and waits until that is done. */
    void signal(String name) throws IOException, InterruptedException {
        shell(SIGNAL, String.valueOf(id), name).waitFor();
    }

    /** Starts to end all of it. The returned process ends when nothing is left of the group. */
    Process end(Duration grace) throws IOException {
        return shell(END, String.valueOf(id), tenths(grace));
    }

    static String tenths(Duration grace) {
        return String.valueOf((grace.toMillis() + 99) / 100);
    }

    /** Runs a script without input and output. */
    static Process shell(String script, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(SHELL, "-c", script, "zklock"));
        command.addAll(Arrays.asList(arguments));
        return new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(Devices.NULL))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}

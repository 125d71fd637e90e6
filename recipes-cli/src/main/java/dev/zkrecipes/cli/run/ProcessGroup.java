// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A process group, or a lone process where the system has no tool to make one. Java cannot signal a group: the shell
 * does.
 */
final class ProcessGroup {
    static final String SHELL = "/bin/sh";

    /** Picks what to signal: the group with that number, if there is one. */
    private static final String TARGET =
            "if kill -s 0 -- \"-$1\"; then target=\"-$1\"; else target=$1; fi 2>/dev/null\n";

    private static final String SIGNAL = TARGET + "kill -s \"$2\" -- \"$target\" 2>/dev/null\n";

    /**
     * Whether any of the target runs. A signal also reaches the dead whose parent does not ask for their exit code;
     * Linux tells the state of each process (Liveness reads the same). The one that was seen to run last is looked at
     * first.
     */
    private static final String RUNS = """
            runs() {
              pid=$1 stat=
              { while read -r part || [ -n "$part" ]; do stat=$stat$part; done <"/proc/$1/stat"; } 2>/dev/null
              set -- ${stat##*)}
              [ -n "$1" ] || return 1
              [ "$target" = "$pid" ] || [ "$target" = "-$3" ] || return 1
              case $1 in [ZXx]) ;; *) return 0 ;; esac
              [ "${18:-0}" -gt 1 ] || { dead=1; return 1; }
            }
            any_runs() {
              kill -s 0 -- "$target" 2>/dev/null || return 1
              dead=
              if runs "$seen"; then return 0; fi
              for folder in /proc/[0-9]*; do
                seen=${folder#/proc/}
                if runs "$seen"; then return 0; fi
              done
              [ -n "$dead" ] && return 1 # if nothing was seen, /proc does not show it, or is not there
              return 0
            }
            seen=$1
            """;

    /**
     * TERM, grace, KILL. A stopped process must continue to see the TERM. Not every sleep accepts fractions. It looks
     * twice, since a process may start another one and end while it looks.
     */
    static final String END = TARGET + RUNS + "kill -s TERM -- \"$target\" 2>/dev/null\n"
            + "kill -s CONT -- \"$target\" 2>/dev/null\n"
            + "tenths=$2\n"
            + "while [ \"$tenths\" -gt 0 ] && { any_runs || any_runs; }; do\n"
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

    /** Starts to end all of it. The returned process ends when nothing of the group runs any more. */
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

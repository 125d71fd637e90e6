// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Ends the command when zklock is killed without notice, with {@code kill -9} or by the system when memory is short.
 * The guard is a shell that reads from a pipe. Only zklock has the other end, so the pipe closes however zklock ends.
 */
final class Guard {
    /** Reads lines of a name and a number. The last one is "done 0"; without it, the writer was killed. */
    private static final String WATCH = """
            trap '' INT HUP QUIT TERM TSTP TTIN TTOU
            group= keeper=
            while read -r what number; do
              case $what in group) group=$number ;; keeper) keeper=$number ;; *) exit 0 ;; esac
            done
            if [ -n "$keeper" ]; then kill -s KILL "$keeper" 2>/dev/null; fi
            if [ -z "$group" ]; then exit 0; fi
            set -- "$group" "$1"
            """;

    private final Process process;

    private Guard(Process process) {
        this.process = process;
    }

    /**
     * Starts a guard, in a session of its own if possible, so that a signal to zklock's group does not end the guard.
     */
    static Guard start(List<String> ownSession, Duration grace) throws IOException {
        List<String> command = new ArrayList<>(ownSession);
        command.addAll(List.of(
                ProcessGroup.SHELL, "-c", WATCH + ProcessGroup.END, "zklock-guard", ProcessGroup.tenths(grace)));
        return new Guard(new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    /** From now on this group ends with zklock. */
    void watch(ProcessGroup group) {
        write("group " + group.id());
    }

    /** From now on the keeper, which waits for the command, is killed with zklock. */
    void watchKeeper(long pid) {
        write("keeper " + pid);
    }

    /** There is nothing to guard any more. */
    void dismiss() {
        write("done 0");
    }

    private void write(String line) {
        try {
            OutputStream pipe = process.getOutputStream();
            pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException e) {
            // Somebody has ended the guard. zklock still looks after the command.
        }
    }
}

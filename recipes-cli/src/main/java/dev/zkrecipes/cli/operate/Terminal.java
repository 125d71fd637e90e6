// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The terminal that this process writes to, if it does. Java tells neither that nor the size, so POSIX tools are asked.
 */
final class Terminal {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,4}) (\\d{1,4})\\s*");
    private static final int LIMIT_SECONDS = 5;

    private Terminal() {}

    /** So many lines of so many characters. */
    record Size(int rows, int columns) {
        static final Size USUAL = new Size(24, 80);
    }

    /** Whether standard output is a terminal that knows the usual escape sequences. */
    static boolean isOutput() {
        String kind = System.getenv("TERM");
        return kind != null
                && !kind.equals("dumb")
                && run("test -t 1", Redirect.INHERIT).isPresent();
    }

    static Size size() {
        return run("stty size </dev/tty", Redirect.PIPE)
                .map(SIZE::matcher)
                .filter(Matcher::matches)
                .map(found -> new Size(Integer.parseInt(found.group(1)), Integer.parseInt(found.group(2))))
                .filter(size -> size.rows() > 1 && size.columns() > 1)
                .orElse(Size.USUAL);
    }

    /** The output of a command; empty if it failed. */
    private static Optional<String> run(String command, Redirect output) {
        try {
            Process process = new ProcessBuilder(List.of("/bin/sh", "-c", command))
                    .redirectInput(Redirect.INHERIT)
                    .redirectOutput(output)
                    .redirectError(Redirect.DISCARD)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return Optional.empty();
            }
            return process.exitValue() == 0 ? Optional.of(text) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}

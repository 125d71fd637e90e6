// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.server;

import dev.zkrecipes.test.internal.ChildJvms;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Another JVM with the class path of this one, which answers each line of its standard input with a line. Its main
 * class ends with its standard input, and so with this JVM.
 */
public final class ChildJvm implements AutoCloseable {
    private static final List<String> OPTIONS = List.of(
            "-XX:+IgnoreUnrecognizedVMOptions",
            "--enable-native-access=ALL-UNNAMED",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");

    private static final String ENDED = "the process has ended; see its messages above";

    private final Process process;
    private final PrintWriter questions;
    private final BufferedReader answers;

    private ChildJvm(Process process) {
        this.process = process;
        this.questions = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        this.answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts a main class. */
    public static ChildJvm start(List<String> options, Class<?> main, String... arguments) {
        List<String> all = new ArrayList<>(OPTIONS);
        all.addAll(options);
        try {
            return new ChildJvm(new ProcessBuilder(ChildJvms.command(all, main, arguments))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + main.getName(), e);
        }
    }

    /** A question and its answer. */
    public synchronized String ask(String question) {
        tell(question);
        return answer();
    }

    /** Sends a question, whose {@link #answer} is to be read later. */
    public void tell(String question) {
        questions.println(question);
    }

    /**
     * Waits for the next answer.
     *
     * @throws IllegalStateException if the process has ended
     */
    public String answer() {
        try {
            String answer = answers.readLine();
            if (answer == null) {
                throw new IllegalStateException(ENDED);
            }
            return answer;
        } catch (IOException e) {
            throw new IllegalStateException(ENDED, e);
        }
    }

    /** The processor time of all its threads so far. */
    public Duration processorTime() {
        return process.info().totalCpuDuration().orElseThrow(() -> new IllegalStateException(ENDED));
    }

    /** Ends the process, and returns when it has ended. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The launcher, {@code bin/zklock}, as seen by its {@link Keeper}. They exchange lines. The launcher's file is also a
 * program that ends processes when the launcher itself is gone.
 */
final class Launcher {
    private static final String PROPERTY = "zklock.launcher";

    private final @Nullable String file;
    private final InputStream in;
    private final PrintStream out;

    /**
     * Creates a launcher.
     *
     * @param file the file of the launcher; null if there is no launcher
     * @param in the lines from the launcher
     * @param out the lines to the launcher
     */
    Launcher(@Nullable String file, InputStream in, PrintStream out) {
        this.file = file;
        this.in = in;
        this.out = out;
    }

    /** Returns the launcher that has started this JVM. */
    static Launcher ofThisJvm() {
        return new Launcher(System.getProperty(PROPERTY), System.in, new PrintStream(System.out, true, UTF_8));
    }

    /** Whether there is a launcher, rather than a user who has started the jar alone. */
    boolean isThere() {
        return file != null;
    }

    /** Sends a line to the launcher. A plus sign distinguishes it from text for people, such as help. */
    synchronized void say(String line) {
        out.print("+" + line + "\n");
        out.flush();
    }

    /** Passes on the launcher's lines until EOF, which means that the launcher is gone. */
    void listen(Consumer<String> hear) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(in, UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                hear.accept(line);
            }
        } catch (IOException e) {
            // A broken pipe means the same as EOF: the launcher is gone.
        }
    }

    /** Runs {@code zklock --end}, which ends a target. Returns whether the target is gone. */
    boolean end(String grace, List<String> target) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("--end", grace));
        words.addAll(target);
        return run(words);
    }

    /**
     * Runs {@code zklock --await}, until no process has a pipe open for reading, or until the process of a number has
     * ended. Returns whether that is so.
     */
    boolean await(String pipeOrProcess) throws IOException, InterruptedException {
        return run(List.of("--await", pipeOrProcess));
    }

    private boolean run(List<String> words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(String.valueOf(file)));
        command.addAll(words);
        return new ProcessBuilder(command)
                        .redirectInput(Redirect.PIPE)
                        .redirectOutput(Redirect.DISCARD)
                        .redirectError(Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A JVM with a class path of its own, whose output goes into a file. Its standard input ends with this JVM. */
final class Jvm implements AutoCloseable {
    /** Quick to start and small; quiet, as ZooKeeper's client logs each connection that ends. */
    private static final List<String> OPTIONS = List.of(
            "-Xmx96m",
            "-Xshare:auto",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            "-cp");

    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final Path output;
    private final Process process;

    private Jvm(Path output, Process process) {
        this.output = output;
        this.process = process;
    }

    static Jvm start(Path output, Jars jars, Class<?> main, String... arguments) throws IOException {
        return start(output, jars, main.getName(), arguments);
    }

    static Jvm start(Path output, Jars jars, String main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.add(jars.classPath());
        command.add(main);
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        return new Jvm(output, process);
    }

    /** Starts a server, and waits until it listens. */
    static Jvm startServer(Path folder, String version) throws IOException {
        return start(
                folder.resolve("output"),
                Jars.ofServer(version),
                ServerOfItsOwnJars.class,
                folder.resolve("data").toString());
    }

    /** What a server listens on. */
    String connectString() {
        return "127.0.0.1:" + port();
    }

    /** The same, on the loopback interface. */
    int port() {
        return Integer.parseInt(
                Awaitility.await().atMost(LIMIT).until(() -> after(ServerOfItsOwnJars.READY), port -> !port.isEmpty()));
    }

    private String after(String prefix) throws IOException {
        assertThat(process.isAlive()).as(text()).isTrue();
        return text().lines()
                .filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()))
                .findFirst()
                .orElse("");
    }

    /** Waits for its end, which must be a good one, and returns what it printed. */
    String join() throws InterruptedException, IOException {
        boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(ended).as(text()).isTrue();
        assertThat(process.exitValue()).as(text()).isZero();
        return text();
    }

    private String text() throws IOException {
        return Files.readString(output);
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}

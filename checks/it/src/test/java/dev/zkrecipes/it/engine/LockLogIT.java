// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.internal.ServerStage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What a process writes to the log {@code dev.zkrecipes.locks}, by level. */
class LockLogIT extends ServerStage {
    private static final Pattern TIME = Pattern.compile("[0-9]+\\.[0-9]{3} ms");

    /** The lines of the log, with placeholders for what differs from run to run; first what the process says itself. */
    private List<String> logAt(String level, String... options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")); // quick to start
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                "-Dorg.slf4j.simpleLogger.showThreadName=false",
                "-Dorg.slf4j.simpleLogger.showDateTime=false",
                "-Dorg.slf4j.simpleLogger.log.dev.zkrecipes.locks=" + level,
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                LoggedProcess.class.getName(),
                server.connectString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(printed).isZero();
        return printed.lines()
                .filter(line -> !line.contains("VM warning"))
                // On a busy machine those may be slow, too, that wait for nobody.
                .filter(line -> !line.contains("Waiting for the lock /logged for"))
                .map(line -> TIME.matcher(line).replaceAll("# ms"))
                .map(line -> line.replaceAll("0x[0-9a-f]+", "0x#")
                        .replaceAll("[0-9a-f]{32}-lock-[0-9]+", "#")
                        .replaceAll("token [0-9]+", "token #")
                        .replaceAll("[0-9]+ s\\b", "# s"))
                .toList();
    }

    @Test
    void sessionsAndLossesAreLogged_andAtDebugEachRequestWithItsDuration() throws Exception {
        List<String> log = logAt("debug");
        assertThat(log)
                .filteredOn(line -> !line.startsWith("DEBUG"))
                .containsExactly(
                        "jdk.jfr: true",
                        "INFO dev.zkrecipes.locks - ZooKeeper session 0x# has begun with a time-out of 60000 ms,"
                                + " where 3600000 ms were asked for (the server's minSessionTimeout and"
                                + " maxSessionTimeout are the bounds).",
                        "WARN dev.zkrecipes.locks - Lost the lock /logged (node #): its node was deleted by somebody else."
                                + " Stop what it protects: others may have the lock now.",
                        "INFO dev.zkrecipes.locks - ZooKeeper session 0x# has begun with a time-out of 30000 ms.",
                        "WARN dev.zkrecipes.locks - Waiting for the lock /logged/slow for # s: place 2 of 2, held by their"
                                + " process (node #, # s old). If its holder is stuck, end it, or ask for the lock back.",
                        "INFO dev.zkrecipes.locks - ZooKeeper session 0x# has ended (CLOSED).",
                        "INFO dev.zkrecipes.locks - ZooKeeper session 0x# has lost its connection; its leases are SUSPENDED.",
                        "INFO dev.zkrecipes.locks - ZooKeeper session 0x# is connected again.",
                        "INFO dev.zkrecipes.locks - ZooKeeper session 0x# has ended (CLOSED).");
        assertThat(log)
                .filteredOn(line -> line.startsWith("DEBUG"))
                .containsExactly(
                        "DEBUG dev.zkrecipes.locks - Asking for the lock /logged (orders, lock-).",
                        "DEBUG dev.zkrecipes.locks - Granted the lock /logged (orders, lock-) after # ms"
                                + " (/logged/#, token #, session 0x#).",
                        "DEBUG dev.zkrecipes.locks - Released the lock /logged (orders, lock-) after # ms.",
                        "DEBUG dev.zkrecipes.locks - Asking for the lock /logged (orders, lock-).",
                        "DEBUG dev.zkrecipes.locks - Granted the lock /logged (orders, lock-) after # ms"
                                + " (/logged/#, token #, session 0x#).",
                        "DEBUG dev.zkrecipes.locks - Asking for the lock /logged (orders, lock-).",
                        "DEBUG dev.zkrecipes.locks - Not granted the lock /logged (orders, lock-) after # ms: BUSY.",
                        "DEBUG dev.zkrecipes.locks - Asking for the lock /logged/slow (lock-).",
                        "DEBUG dev.zkrecipes.locks - Granted the lock /logged/slow (lock-) after # ms"
                                + " (/logged/slow/#, token #, session 0x#).",
                        "DEBUG dev.zkrecipes.locks - Asking for the lock /logged/slow (lock-).",
                        "DEBUG dev.zkrecipes.locks - Not granted the lock /logged/slow (lock-) after # ms: CANCELLED.",
                        "DEBUG dev.zkrecipes.locks - Released the lock /logged/slow (lock-) after # ms.");
    }

    /** Flight Recorder is a module that an application may leave out of its image. */
    @Test
    void withoutFlightRecorder_locksWork() throws Exception {
        assertThat(logAt(
                        "off",
                        "--limit-modules",
                        "java.base,java.compiler,java.logging,java.management,java.naming,java.security.jgss,java.security.sasl,"
                                + "java.sql,java.xml,jdk.unsupported,jdk.management"))
                .containsExactly("jdk.jfr: false");
    }
}

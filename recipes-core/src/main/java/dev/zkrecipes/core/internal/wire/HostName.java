// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads the name of this machine from system files. {@code InetAddress.getLocalHost()} may wait for the name service,
 * and shells do not always export {@code HOSTNAME}. The name only helps people to find a holder, so a wrong one does no
 * harm.
 */
final class HostName {
    private static final String UNKNOWN = "localhost";

    private HostName() {}

    /** Returns the name of this machine; "localhost" if it is unknown. */
    static String local() {
        return from(
                List.of(Path.of("/proc/sys/kernel/hostname"), Path.of("/etc/hostname"), Path.of("/etc/myname")),
                System.getenv());
    }

    /** Returns the first name found in the files and then in the environment, each in order. */
    static String from(List<Path> files, Map<String, String> environment) {
        Stream<String> ofFiles = files.stream().flatMap(file -> firstLine(file).stream());
        Stream<String> ofEnvironment =
                Stream.of("COMPUTERNAME", "HOSTNAME", "HOST").flatMap(name -> Stream.ofNullable(environment.get(name)));
        return Stream.concat(ofFiles, ofEnvironment)
                .map(String::strip)
                .filter(name -> !name.isEmpty() && !name.equals("(none)"))
                .findFirst()
                .orElse(UNKNOWN);
    }

    private static Optional<String> firstLine(Path file) {
        try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
            return lines.findFirst();
        } catch (IOException | RuntimeException e) {
            return Optional.empty(); // the file belongs to another operating system
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Class paths with jars of other versions, which the build puts into {@code target/versions}. */
final class Jars {
    private static final Path FOLDER = Path.of("target", "versions");
    /** Surefire runs tests from a jar that only names the class path, and says here what that is. */
    private static final List<Path> OURS = Stream.of(
                    System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                            .split(File.pathSeparator, -1))
            .map(Path::of)
            .toList();

    /** Core and the recipes, which users have: folders of classes, or jars. */
    static final List<Path> RECIPES = OURS.stream()
            .filter(path -> path.toString().matches(".*recipes-(core|mutex|rwlock|semaphore|multilock)\\b.*"))
            .toList();

    private final List<Path> paths;

    private Jars(List<Path> paths) {
        this.paths = paths;
    }

    /** What the tests of this build run with. */
    static Jars ofTheBuild() {
        return new Jars(OURS);
    }

    /** A server of that version, what it needs to run, and {@link ServerOfItsOwnJars}. */
    static Jars ofServer(String version) {
        List<Path> server = new ArrayList<>(zooKeeper(version));
        OURS.stream()
                .filter(path ->
                        isOneOf(path, "slf4j-api-", "slf4j-simple-", "metrics-core-", "snappy-java-", "test-classes"))
                .forEach(server::add);
        return new Jars(server);
    }

    /** These jars with that client of ZooKeeper in the place of theirs. */
    Jars withZooKeeper(String version) {
        return with(zooKeeper(version), "zookeeper-");
    }

    /** These jars with that Guava in the place of theirs. */
    Jars withGuava(String version) {
        return with(List.of(jar("guava-" + version)), "guava-");
    }

    /** These jars but those that begin so. */
    Jars without(String... prefixes) {
        return new Jars(paths.stream().filter(path -> !isOneOf(path, prefixes)).toList());
    }

    private Jars with(List<Path> others, String prefix) {
        List<Path> changed = new ArrayList<>(others);
        paths.stream().filter(path -> !isOneOf(path, prefix)).forEach(changed::add);
        return new Jars(changed);
    }

    String classPath() {
        return String.join(
                File.pathSeparator,
                paths.stream().map(path -> path.toAbsolutePath().toString()).toList());
    }

    URL[] urls() {
        return paths.stream()
                .map(path -> {
                    try {
                        return path.toUri().toURL();
                    } catch (MalformedURLException e) {
                        throw new IllegalStateException(e);
                    }
                })
                .toArray(URL[]::new);
    }

    /** Up to 3.4 ZooKeeper had one jar. */
    static List<Path> zooKeeper(String version) {
        Path client = jar("zookeeper-" + version);
        return version.startsWith("3.4.") ? List.of(client) : List.of(client, jar("zookeeper-jute-" + version));
    }

    static Path jar(String name) {
        Path jar = FOLDER.resolve(name + ".jar");
        if (!Files.exists(jar)) {
            throw new AssertionError(jar + " is missing: checks/it/pom.xml names what is copied there");
        }
        return jar;
    }

    private static boolean isOneOf(Path path, String... prefixes) {
        String name = path.getFileName().toString();
        return Stream.of(prefixes).anyMatch(name::startsWith);
    }
}

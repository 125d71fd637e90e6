// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All that core and the recipes call of ZooKeeper and Guava is in the oldest jars that they say they work with. */
@Tag("H98")
@Tag("soak")
class LinkageTest {
    private static Set<String> usedOf(List<String> packages) throws IOException {
        Set<String> used = new TreeSet<>();
        for (Path root : Jars.RECIPES) {
            if (Files.isDirectory(root)) {
                addUsed(root, packages, used);
            } else {
                try (FileSystem jar = FileSystems.newFileSystem(root)) {
                    addUsed(jar.getPath("/"), packages, used);
                }
            }
        }
        assertThat(used).hasSizeGreaterThan(10);
        return used;
    }

    private static void addUsed(Path root, List<String> packages, Set<String> used) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".class")).toList()) {
                References.of(Files.readAllBytes(file)).stream()
                        .filter(reference -> packages.stream().anyMatch(reference::startsWith))
                        .forEach(used::add);
            }
        }
    }

    private static void assertAllIn(Declarations oldest, Set<String> used) {
        List<String> missing = new ArrayList<>(used);
        missing.removeIf(oldest::have);
        assertThat(missing).isEmpty();
    }

    @Test
    void oldestClientJar_hasEveryCalledMember() throws IOException {
        assertAllIn(
                new Declarations(Jars.zooKeeper("3.6.0")),
                usedOf(List.of("org/apache/zookeeper/", "org/apache/jute/")));
    }

    @Test
    void oldestGuava_hasEveryCalledMember() throws IOException {
        assertAllIn(new Declarations(List.of(Jars.jar("guava-23.3-jre"))), usedOf(List.of("com/google/common/")));
    }

    /** Else the check at run time would pass what is too old. */
    @Test
    void jarsBeforeTheOldest_lackSomething() throws IOException {
        Declarations older = new Declarations(Jars.zooKeeper("3.5.10"));
        assertThat(usedOf(List.of("org/apache/zookeeper/"))).anyMatch(used -> !older.have(used));
        Declarations olderGuava = new Declarations(List.of(Jars.jar("guava-20.0")));
        assertThat(usedOf(List.of("com/google/common/"))).anyMatch(used -> !olderGuava.have(used));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;

/** What GraalVM's native-image is told of reflection, in recipes-core. */
class NativeImageTest {
    private static final Path METADATA = Pom.ofModule("recipes-core")
            .folder()
            .resolve("target/classes/META-INF/native-image/dev.zkrecipes/recipes-core/reflect-config.json");
    private static final Pattern TYPE =
            Pattern.compile("\"name\": \"([^\"]+)\", \"(?:fields|methods)\": \\[(.*)]}", Pattern.MULTILINE);
    private static final Pattern MEMBER = Pattern.compile("\"name\": \"([^\"]+)\"");

    /** What ZooKeeper's client makes by its name: its socket, and the reader of JAAS files, which is the JDK's. */
    private static final Set<String> OF_ZOOKEEPER =
            Set.of("org.apache.zookeeper.ClientCnxnSocketNIO.<init>", "sun.security.provider.ConfigFile.<init>");

    private static Set<String> listed() throws IOException {
        Set<String> listed = new TreeSet<>();
        TYPE.matcher(Files.readString(METADATA))
                .results()
                .forEach(type -> MEMBER.matcher(type.group(2))
                        .results()
                        .forEach(member -> listed.add(type.group(1) + "." + member.group(1))));
        return listed;
    }

    /** Of all that an application runs: not of the test kit. */
    private static Set<String> used() throws IOException {
        List<String> kit = List.of("recipes-test", "recipes-explore");
        Set<String> used = new TreeSet<>();
        for (Pom pom : Pom.built()) {
            if (!kit.contains(pom.artifact())) {
                try (Stream<Path> files = Files.walk(pom.folder().resolve("target/classes"))) {
                    for (Path file : files.filter(each -> each.toString().endsWith(".class"))
                            .toList()) {
                        new ClassReader(Files.readAllBytes(file))
                                .accept(new ReflectiveCalls(used), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
                    }
                }
            }
        }
        return used;
    }

    @Test
    void whatIsLookedUpByItsName_isListed_andNothingElse() throws IOException {
        Set<String> expected = new TreeSet<>(OF_ZOOKEEPER);
        expected.addAll(used());
        assertThat(listed()).hasSizeGreaterThan(OF_ZOOKEEPER.size()).isEqualTo(expected);
    }

    @Test
    void socketOfZooKeepersClient_hasTheListedConstructor() throws Exception {
        assertThat(Class.forName("org.apache.zookeeper.ClientCnxnSocketNIO")
                        .getDeclaredConstructor(ZKClientConfig.class))
                .isNotNull();
    }
}

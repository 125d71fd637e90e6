// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;

/** What GraalVM's native-image is told of reflection. Whoever adds, renames or removes a field updater changes the file. */
class NativeImageTest {
    private static final Path FILE =
            Path.of("src/main/resources/META-INF/native-image/dev.zkrecipes/recipes-core/reflect-config.json");
    private static final Path SOURCES = Path.of("src/main/java");
    private static final Pattern UPDATER = Pattern.compile("newUpdater\\(\\s*(\\w+)\\.class,[^\"]*\"(\\w+)\"");
    private static final Pattern LISTED = Pattern.compile("\"name\": \"(dev\\.[^\"]+)\", \"fields\": \\[(.*?)]");
    private static final Pattern FIELD = Pattern.compile("\"name\": \"(\\w+)\"");

    private static Stream<String> updaters(Path source) {
        try {
            String file =
                    SOURCES.relativize(source).toString().replace(".java", "").replace('/', '.');
            return UPDATER.matcher(Files.readString(source))
                    .results()
                    .map(updater -> (file.endsWith("." + updater.group(1)) ? file : file + "$" + updater.group(1)) + " "
                            + updater.group(2));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void fieldsOfUpdaters_areListed() throws IOException {
        List<String> listed = LISTED.matcher(Files.readString(FILE))
                .results()
                .flatMap(type ->
                        FIELD.matcher(type.group(2)).results().map(field -> type.group(1) + " " + field.group(1)))
                .toList();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            assertThat(files.filter(file -> file.toString().endsWith(".java")).flatMap(NativeImageTest::updaters))
                    .isNotEmpty()
                    .containsExactlyInAnyOrderElementsOf(listed);
        }
    }

    /** ZooKeeper's client makes it by its name. */
    @Test
    void socketOfZooKeepersClient_isListed() throws Exception {
        Class<?> socket = Class.forName("org.apache.zookeeper.ClientCnxnSocketNIO");
        assertThat(socket.getDeclaredConstructor(ZKClientConfig.class)).isNotNull();
        assertThat(Files.readString(FILE)).contains("\"name\": \"" + socket.getName() + "\"");
    }
}

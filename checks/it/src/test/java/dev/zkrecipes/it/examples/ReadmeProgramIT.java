// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The README's program, compiled as it is and run on a server that has nothing yet; only the port is another one. */
@Timeout(600)
@WithZooKeeper
class ReadmeProgramIT {
    private static final Pattern PROGRAM = Pattern.compile("^```java\n(import (?s:.*?))^```$", Pattern.MULTILINE);

    @TempDir
    Path folder = Path.of("");

    @Test
    void tenLines_runOnAFreshServer(EmbeddedZooKeeper server) throws Exception {
        Matcher program = PROGRAM.matcher(Files.readString(Path.of("../..", "README.md")));
        assertThat(program.find()).isTrue();
        assertThat(program.group(1)).contains("closeOnShutdown()", "\"127.0.0.1:2181\"");
        Path source = folder.resolve("Orders.java");
        Files.writeString(source, program.group(1).replace("127.0.0.1:2181", server.connectString()));

        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-Xlint:all", "-Werror", "-d", folder.toString(), source.toString());
        assertThat(result).isZero();
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            loader.loadClass("Orders").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }

        assertThat(server.nodeExists("/locks/orders")).isTrue();
        assertThat(server.children("/locks/orders")).isEmpty();
        assertThat(server.sessions()).isEmpty();
    }
}

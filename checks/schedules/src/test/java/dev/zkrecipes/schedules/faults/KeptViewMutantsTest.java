// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules.faults;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.explore.Violation;
import java.io.File;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a kept view checks before it is believed. Each check in turn is taken out of the source of the engine, which is
 * compiled and explored in a class loader of its own: the explorer finds that somebody is granted who may not be.
 */
class KeptViewMutantsTest {
    private static final Path SOURCE =
            Path.of("../../recipes-core/src/main/java/dev/zkrecipes/core/internal/session/KeptView.java");
    private static final int SCHEDULES = 5_000;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // somebody else may have created a node since
                "wasExpected = number == expected; | wasExpected = true;",
                // nobody has told of the end of the path, as the watch is just being set again
                "&& watches.tellsContentOf(path) | ''",
                // the watch was set again, perhaps on another path of that name
                "knownSinceRead == reads && | ''",
                // the list shows somebody else
                "isKnown = wasAlone && | isKnown =",
                // it was not known before
                "isKnown = isKnown() && | isKnown ="
            })
    void mutant_isFound(String check, String instead) throws Exception {
        String source = Files.readString(SOURCE);
        assertThat(source).containsOnlyOnce(check);
        Path mutant = Files.writeString(folder.resolve("KeptView.java"), source.replace(check, instead));
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-proc:none", "-d", folder.toString(), mutant.toString()))
                .isZero();
        assertThat(firstBroken()).contains("nobody is granted out of turn");
    }

    /** The rule that is broken, by an engine whose classes are first looked for in the folder. */
    private Optional<Object> firstBroken() throws Exception {
        List<URL> urls = new ArrayList<>(List.of(folder.toUri().toURL()));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Constructor<?> constructor =
                    loader.loadClass(Exploration.class.getName()).getDeclaredConstructor();
            constructor.setAccessible(true); // another class loader is another package
            return Optional.ofNullable(((Supplier<?>) constructor.newInstance()).get());
        }
    }

    /** Lives in the other class loader. */
    static final class Exploration implements Supplier<@Nullable String> {
        @Override
        public @Nullable String get() {
            Explorer explorer =
                    Explorer.of(requireNonNull(Recipes.all().get("MUTEX"))).withClients(2);
            return LongStream.rangeClosed(1, SCHEDULES)
                    .mapToObj(explorer::play)
                    .flatMap(Optional::stream)
                    .findFirst()
                    .map(Violation::rule)
                    .orElse(null);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The code of {@code docs/custom-drivers.md} is code of this package, which is compiled and tested. */
class CustomDriversDocTest {
    private static final Path PAGE = Path.of("../docs/custom-drivers.md");
    private static final Path PACKAGE =
            Path.of("src/test/java", CustomDriversDocTest.class.getPackageName().replace('.', '/'));
    private static final Pattern FENCE = Pattern.compile("^```(.*)\n((?s:.*?))^```$", Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)\\)");

    private static List<MatchResult> found(Pattern pattern) throws IOException {
        return pattern.matcher(Files.readString(PAGE)).results().toList();
    }

    /** Without indentation and comments, each line between line breaks. */
    private static String code(String java) {
        return java.lines()
                .map(line -> line.replaceFirst("(^|\\s)//.*$", "").strip())
                .filter(line -> !line.isEmpty())
                .collect(Collectors.joining("\n", "\n", "\n"));
    }

    @Test
    void everyBlockOfJava_isCodeOfAnExample() throws IOException {
        List<String> sources;
        try (Stream<Path> files = Files.list(PACKAGE)) {
            sources = files.sorted()
                    .map(CustomDriversDocTest::read)
                    .map(CustomDriversDocTest::code)
                    .toList();
        }
        List<MatchResult> blocks = found(FENCE);
        assertThat(blocks).hasSizeGreaterThanOrEqualTo(5).allSatisfy(block -> {
            assertThat(block.group(1)).isEqualTo("java");
            assertThat(sources)
                    .as("a source with\n%s", block.group(2))
                    .anySatisfy(source -> assertThat(source).contains(code(block.group(2))));
        });
    }

    @Test
    void everyLink_leadsToAFile() throws IOException {
        assertThat(found(LINK))
                .isNotEmpty()
                .allSatisfy(
                        link -> assertThat(PAGE.resolveSibling(link.group(1))).exists());
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}

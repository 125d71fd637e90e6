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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The failures in the guide to writing drivers are expected by tests of this package; its links lead to files. */
class GuidesTest {
    private static final Path GUIDE = Path.of("../docs/drivers.md");
    private static final Path PACKAGE =
            Path.of("src/test/java", GuidesTest.class.getPackageName().replace('.', '/'));
    private static final Pattern FENCE = Pattern.compile("^```(.*)\n((?s:.*?))^```$", Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)\\)");

    private static List<MatchResult> found(Pattern pattern, Path page) {
        return pattern.matcher(read(page)).results().toList();
    }

    private static List<String> sources() throws IOException {
        try (Stream<Path> files = Files.list(PACKAGE)) {
            return files.sorted().map(GuidesTest::read).toList();
        }
    }

    @Test
    void everyShownFailure_isExpectedByATest() throws IOException {
        List<String> sources = sources().stream()
                .map(source -> source.replaceAll("\"\\s*\\+ \"", ""))
                .toList();
        assertThat(found(FENCE, GUIDE)).allSatisfy(block -> {
            assertThat(block.group(1)).isIn("java", "text", "xml", "sh");
            if (block.group(1).equals("text")) {
                assertThat(block.group(2).lines())
                        .allSatisfy(line -> assertThat(sources)
                                .as("a source with %s", line)
                                .anySatisfy(source -> assertThat(source).contains(line)));
            }
        });
    }

    @Test
    void everyLink_leadsToAFile() {
        assertThat(found(LINK, GUIDE))
                .isNotEmpty()
                .allSatisfy(
                        link -> assertThat(GUIDE.resolveSibling(link.group(1))).exists());
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}

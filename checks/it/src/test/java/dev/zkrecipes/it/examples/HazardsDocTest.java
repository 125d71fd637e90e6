// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/dev/hazards.md} names each hazard that has a test, and tests that have its tag. */
class HazardsDocTest {
    private static final Pattern ROW = Pattern.compile("^\\| (H\\d+) \\|.*\\| ([^|]+) \\|$", Pattern.MULTILINE);
    private static final Pattern TEST = Pattern.compile("`(\\w+)`");
    private static final Pattern TAG = Pattern.compile("@Tag\\(\"(H\\d+)\"\\)");

    /** By hazard. */
    private static Map<String, Set<String>> testsNamed() throws IOException {
        Map<String, Set<String>> named = new TreeMap<>();
        for (MatchResult row : found(ROW, HouseFiles.HOUSE.resolve("docs/dev/hazards.md"))) {
            Set<String> tests = new TreeSet<>();
            TEST.matcher(row.group(2)).results().forEach(test -> tests.add(test.group(1)));
            assertThat(named.put(row.group(1), tests)).as(row.group(1)).isNull();
        }
        return named;
    }

    /** By hazard. */
    private static Map<String, Set<String>> testsTagged() throws IOException {
        Map<String, Set<String>> tagged = new TreeMap<>();
        for (Path file : HouseFiles.matching(".*\\.java")) {
            String test = file.getFileName().toString().replace(".java", "");
            for (MatchResult tag : found(TAG, file)) {
                tagged.computeIfAbsent(tag.group(1), id -> new TreeSet<>()).add(test);
            }
        }
        return tagged;
    }

    private static Collection<MatchResult> found(Pattern pattern, Path file) throws IOException {
        return pattern.matcher(Files.readString(file)).results().toList();
    }

    @Test
    void everyHazardWithATest_isOnThePage() throws IOException {
        assertThat(testsNamed().keySet()).isNotEmpty().isEqualTo(testsTagged().keySet());
    }

    @Test
    void everyTestOnThePage_hasTheTag() throws IOException {
        Map<String, Set<String>> tagged = testsTagged();
        assertThat(testsNamed()).isNotEmpty().allSatisfy((hazard, tests) -> {
            assertThat(tests).as(hazard).isNotEmpty();
            assertThat(tagged.get(hazard)).as(hazard).isNotNull().containsAll(tests);
        });
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the documents name exists, and the README says the same in both languages. */
class DocsTest {
    private static final Path HOUSE = HouseFiles.HOUSE;
    private static final Pattern BLOCK = Pattern.compile("^```(\\w*\n(?s:.*?))^```$", Pattern.MULTILINE);
    private static final Pattern JAVA = Pattern.compile("^```java\n((?s:.*?))^```$", Pattern.MULTILINE);
    private static final Pattern IMPORT = Pattern.compile("^import (?:static )?[\\w.]+\\.(\\w+);$", Pattern.MULTILINE);
    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern LINK =
            Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)|^\\[\\w+\\]: (\\S+)$", Pattern.MULTILINE);
    private static final Pattern SECTION_LINK = Pattern.compile("\\]\\(([^)#:]*)#([^)]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
    private static final Pattern TEST_NAME = Pattern.compile("`((?!zk_)[a-z][A-Za-z0-9]*_\\w+)`");
    private static final Pattern METHOD = Pattern.compile("^ +void (\\w+)\\(", Pattern.MULTILINE);
    private static final Pattern FEATURE =
            Pattern.compile("^\\| (?!feature |promise )(.*) \\| ([^|]+) \\|$", Pattern.MULTILINE);
    private static final Pattern TEST = Pattern.compile("`(\\w+)(?:#(\\w+))?`");
    /** Between paragraphs, of javadoc, too, or rows of a table. */
    private static final Pattern GAP = Pattern.compile("\n[ *]*\n|\n\\|");

    private static final Pattern SYNC = Pattern.compile("(`|\\{@code )sync\\b");
    private static final Pattern WRITE = Pattern.compile("\\bwrite\\b");
    private static final Pattern BENCH_CASE = Pattern.compile("--case ([a-z0-9-]+)");

    static Stream<Path> documents() throws IOException {
        try (Stream<Path> docs = Files.walk(HOUSE.resolve("docs"));
                Stream<Path> top = Files.list(HOUSE)) {
            return Stream.concat(docs, top).filter(file -> file.toString().endsWith(".md")).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyLink_leadsToAFile(Path document) throws IOException {
        assertThat(linked(withoutBlocks(document)))
                .allSatisfy(link -> assertThat(document.resolveSibling(link)).exists());
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyLinkIntoAPage_leadsToASection(Path document) throws IOException {
        for (MatchResult link :
                SECTION_LINK.matcher(withoutBlocks(document)).results().toList()) {
            Path page = link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1));
            assertThat(found(HEADING, withoutBlocks(page)))
                    .extracting(DocsTest::anchor)
                    .as(page.toString())
                    .contains(link.group(2));
        }
    }

    /** The anchor that GitHub makes of a heading. */
    private static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\d _-]", "")
                .replace(' ', '-');
    }

    /**
     * Whoever copies a block finds where its names come from: in the imports that it shows, all of them and no others,
     * or in the example to which its section or the beginning of the page links.
     */
    @ParameterizedTest
    @MethodSource("documents")
    void everyJavaBlock_isCodeOfAnExample_andShowsItsImportsOrLinksToIt(Path document) throws IOException {
        Map<Path, String> examples = examples();
        String text = Files.readString(document);
        for (MatchResult block : JAVA.matcher(text).results().toList()) {
            if (isProgramOfTheReadme(document, text, block)) {
                continue;
            }
            String code = block.group(1);
            Set<Path> sources = examples.keySet().stream()
                    .filter(file -> bare(examples.get(file)).contains(bare(code)))
                    .collect(toSet());
            assertThat(sources).as("examples with this code:\n%s", code).isNotEmpty();
            if (sources.stream().noneMatch(linksNear(document, text, block)::contains)) {
                assertThat(sources)
                        .extracting(source -> importsOf(examples.get(source), code))
                        .as("imports for this code, as no link near it leads to %s:\n%s", sources, code)
                        .contains(IMPORT.matcher(code)
                                .results()
                                .map(MatchResult::group)
                                .toList());
            }
        }
    }

    /** {@link ReadmeProgramIT} runs it. */
    private static boolean isProgramOfTheReadme(Path document, String text, MatchResult block) {
        return document.getFileName().toString().startsWith("README") && text.indexOf("```java") == block.start();
    }

    private static Map<Path, String> examples() throws IOException {
        return HouseFiles.matching(".*/src/test/java/.*/examples/\\w+\\.java").stream()
                .collect(toMap(Path::normalize, DocsTest::read));
    }

    /** Without blanks, comments and imports; a class that stands in another one is as good as one that stands alone. */
    private static String bare(String java) {
        return java.replaceAll("(?m)^import .*$|(^|\\s)//.*$", "")
                .replaceAll("\\bstatic (?=(final )?class\\b)", "")
                .replaceAll("\\s+", "");
    }

    /** The imports of the source that name what is in the code. */
    private static List<String> importsOf(String source, String code) {
        String names = code.replaceAll("(?m)^import .*$|(^|\\s)//.*$", "");
        return IMPORT.matcher(source)
                .results()
                .filter(line -> names.matches("(?s).*\\b" + line.group(1) + "\\b.*"))
                .map(MatchResult::group)
                .toList();
    }

    /** The files to which the section of the block and the beginning of the page link. */
    private static Set<Path> linksNear(Path document, String page, MatchResult block) {
        String prose =
                BLOCK.matcher(page).replaceAll(code -> " ".repeat(code.group().length()));
        int from = prose.lastIndexOf("\n#", block.start());
        int to = prose.indexOf("\n#", block.start());
        String section = prose.substring(Math.max(from, 0), to < 0 ? prose.length() : to);
        String beginning = prose.substring(0, Math.max(prose.indexOf("\n##"), 0));
        return linked(beginning + section).stream()
                .map(link -> document.resolveSibling(link).normalize())
                .collect(toSet());
    }

    private static List<String> linked(String prose) {
        return LINK.matcher(prose)
                .results()
                .map(link -> link.group(1) != null ? link.group(1) : link.group(3))
                .toList();
    }

    /** The leader answers it without waiting for commits that others have been answered for: only a write waits. */
    @Test
    @Tag("H149")
    void sync_isNowhereAdvisedWithoutAWrite() throws IOException {
        List<String> paragraphs = new ArrayList<>();
        for (Path file : HouseFiles.matching(".*(\\.md|/src/main/.*\\.java)")) {
            GAP.splitAsStream(Files.readString(file)).filter(SYNC.asPredicate()).forEach(paragraphs::add);
        }
        assertThat(paragraphs).isNotEmpty().allMatch(WRITE.asPredicate());
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs/curator.md", "docs/operations.md"})
    void everyNamedTest_exists(String document) throws IOException {
        Set<String> tests = new HashSet<>();
        testMethods().values().forEach(tests::addAll);
        assertThat(found(TEST_NAME, withoutBlocks(HOUSE.resolve(document))))
                .isNotEmpty()
                .filteredOn(name -> !tests.contains(name))
                .isEmpty();
    }

    /** A test that is renamed or deleted is missed here, and with it the feature. */
    @Test
    void everyFeature_isHeldByTestsThatExist() throws IOException {
        Map<String, Set<String>> tests = testMethods();
        List<MatchResult> features = FEATURE.matcher(Files.readString(HOUSE.resolve("docs/dev/features.md")))
                .results()
                .toList();
        assertThat(features).hasSizeGreaterThan(50);
        assertThat(features)
                .filteredOn(feature -> !TEST.matcher(feature.group(2)).find())
                .extracting(MatchResult::group)
                .isEmpty();
        assertThat(features.stream()
                        .flatMap(feature -> TEST.matcher(feature.group(2)).results()))
                .filteredOn(test -> !exists(test.group(1), test.group(2), tests))
                .extracting(MatchResult::group)
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void everyNamedBenchmark_exists(Path document) throws IOException {
        String cases =
                Files.readString(HOUSE.resolve("checks/bench/src/main/java/dev/zkrecipes/bench/compare/Cases.java"));
        assertThat(found(BENCH_CASE, Files.readString(document)))
                .allSatisfy(name -> assertThat(cases).containsPattern("\n +" + name + " +\\|"));
    }

    @Test
    void readme_hasTheSameCodeInBothLanguages() throws IOException {
        Path english = HOUSE.resolve("README.md");
        Path chinese = HOUSE.resolve("README.zh-CN.md");
        assertThat(blocks(chinese)).isEqualTo(blocks(english)).hasSize(5);
        assertThat(found(CODE, withoutBlocks(chinese)).stream().sorted())
                .containsExactlyElementsOf(
                        found(CODE, withoutBlocks(english)).stream().sorted().toList());
        assertThat(links(chinese)).isEqualTo(links(english)).hasSizeGreaterThan(15);
    }

    /** Without comments, which are in the language of the page. */
    private static List<String> blocks(Path document) throws IOException {
        return found(BLOCK, Files.readString(document)).stream()
                .map(block -> block.replaceAll("(?m) *(//|#) .*$", ""))
                .toList();
    }

    /** But those from the one to the other. */
    private static List<String> links(Path document) throws IOException {
        return LINK.matcher(withoutBlocks(document))
                .results()
                .map(link -> link.group().replaceFirst("^\\]", ""))
                .filter(link -> !link.contains("README"))
                .sorted()
                .toList();
    }

    private static String withoutBlocks(Path document) throws IOException {
        return BLOCK.matcher(Files.readString(document)).replaceAll("");
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(result -> result.group(1)).toList();
    }

    private static boolean exists(String test, @Nullable String method, Map<String, Set<String>> tests) {
        Set<String> methods = tests.get(test);
        return methods != null && (method == null || methods.contains(method));
    }

    /** By class. */
    private static Map<String, Set<String>> testMethods() throws IOException {
        Map<String, Set<String>> names = new HashMap<>();
        for (Path file : HouseFiles.matching(".*/src/(test|main)/java/.*(IT|Test|Contract)\\.java")) {
            names.computeIfAbsent(file.getFileName().toString().replace(".java", ""), test -> new HashSet<>())
                    .addAll(found(METHOD, read(file)));
        }
        return names;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

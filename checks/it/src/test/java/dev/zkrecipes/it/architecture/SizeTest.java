// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How much there is to read, in the main code of all modules. Limits are 3 % above what there was when they were set. */
class SizeTest {
    private static final Path TOP = Pom.parent().folder();
    private static final Pattern COMMENT = Pattern.compile("\\s*(\\*|/\\*|//)");
    private static final List<Path> SOURCES =
            Pom.modules().stream().flatMap(SizeTest::sources).toList();

    private static Stream<Path> sources(Pom module) {
        try {
            return module.sources().stream()
                    .filter(file -> file.startsWith(module.folder().resolve("src/main/java")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isCode(String line) {
        return !line.isBlank()
                && !line.startsWith("import ")
                && !COMMENT.matcher(line).lookingAt();
    }

    /** Comments are free: only code counts, without imports and blank lines. */
    @Test
    void core_doesNotGrow() {
        long code = sources(Pom.ofModule("recipes-core"))
                .flatMap(file -> lines(file).stream())
                .filter(SizeTest::isCode)
                .count();
        assertThat(code).as("lines of code in core").isLessThanOrEqualTo(13_750);
    }

    /** The formatter wraps code, and leaves comments as they are. */
    @Test
    void comments_areNotWiderThan120Columns() {
        List<String> wide = SOURCES.stream()
                .flatMap(file -> lines(file).stream()
                        .filter(line ->
                                line.length() > 120 && COMMENT.matcher(line).lookingAt())
                        .map(line -> TOP.relativize(file) + ": " + line))
                .toList();
        assertThat(wide).isEmpty();
    }

    @Test
    void fewNames_standForTwoThings() {
        Set<String> twice = SOURCES.stream()
                .map(file -> file.getFileName().toString())
                .filter(name -> !name.equals("package-info.java"))
                .collect(groupingBy(name -> name, Collectors.counting()))
                .entrySet()
                .stream()
                .filter(name -> name.getValue() > 1)
                .map(name -> name.getKey())
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(twice).hasSizeLessThanOrEqualTo(1);
    }

    /** An interface separates what differs: two implementations, or one and a test's. */
    @Test
    void noInterfaceOfTheEngine_hasOneImplementationAndNoTestDouble() {
        Path target = TOP.resolve("recipes-core/target");
        JavaClasses all = ArchConfiguration.withThreadLocalScope(configuration -> {
            configuration.setResolveMissingDependenciesFromClassPath(false);
            return new ClassFileImporter().importPaths(target.resolve("classes"), target.resolve("test-classes"));
        });
        Set<String> mocked = all.stream()
                .filter(SizeTest::isTest)
                .flatMap(test -> test.getReferencedClassObjects().stream())
                .map(reference -> reference.getRawType().getName())
                .collect(toSet());
        Set<String> needless = all.stream()
                .filter(each -> each.isInterface() && !each.isAnnotation() && !isTest(each))
                .filter(each -> each.getPackageName().contains(".internal"))
                .filter(each -> !mocked.contains(each.getName()))
                .filter(each -> implementations(each).size() == 1)
                .filter(each -> implementations(each).stream().noneMatch(SizeTest::isTest))
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(needless).isEmpty();
    }

    private static Set<JavaClass> implementations(JavaClass type) {
        return type.getAllSubclasses().stream()
                .filter(each -> !each.isInterface())
                .collect(toSet());
    }

    private static boolean isTest(JavaClass each) {
        return each.getSource().orElseThrow().getUri().getPath().contains("/test-classes/");
    }
}

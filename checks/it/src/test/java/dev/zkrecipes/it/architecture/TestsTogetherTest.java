// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAnnotation;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Tags;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Classes that have a server run beside each other in one JVM. What would disturb them, or be disturbed, says so. zklock
 * runs in processes of its own, and is built beside.
 */
class TestsTogetherTest {
    private static final Map<String, Set<String>> WHOLE_JVM = Map.of(
            "dev.zkrecipes.test.internal.LeakCheck", Set.of("start"),
            "java.lang.System", Set.of("setErr", "setOut", "setIn", "setProperty", "clearProperty", "gc"),
            "java.lang.Thread",
                    Set.of(
                            "activeCount",
                            "getAllStackTraces",
                            "getDefaultUncaughtExceptionHandler",
                            "setDefaultUncaughtExceptionHandler"),
            "java.lang.management.ManagementFactory", Set.of("getThreadMXBean", "getMemoryMXBean"),
            "java.util.Locale", Set.of("setDefault"),
            "java.util.TimeZone", Set.of("setDefault"));

    private static final Set<String> ALONE = Set.of("alone", "soak");

    /** Without the classes that they use, which nobody asks about here. */
    private static final JavaClasses TESTS = ArchConfiguration.withThreadLocalScope(configuration -> {
        configuration.setResolveMissingDependenciesFromClassPath(false);
        return new ClassFileImporter().importPaths(testClasses());
    });

    private static Stream<Pom> modules() {
        return Stream.concat(Pom.built().stream(), Stream.of(Pom.ofModule("recipes-it")));
    }

    private static List<Path> testClasses() {
        return modules()
                .map(module -> module.folder().resolve("target/test-classes"))
                .filter(Files::isDirectory)
                .toList();
    }

    @Test
    void testOfTheWholeJvm_isTaggedAlone() {
        Set<String> others = usersOf(TestsTogetherTest::isOfTheWholeJvm)
                .filter(user -> !isAlone(user))
                .map(JavaCodeUnit::getFullName)
                .collect(toSet());
        assertThat(others).as("add @Tag(\"alone\")").isEmpty();
    }

    /** Otherwise such a test would run nowhere. */
    @Test
    void moduleWithTestsOfTheWholeJvm_runsThem() throws IOException {
        for (Pom module : modules().toList()) {
            try (Stream<Path> files = Files.walk(module.folder().resolve("src"))) {
                boolean found = false;
                for (Path file :
                        (Iterable<Path>) files.filter(each -> each.toString().endsWith("IT.java"))::iterator) {
                    found |= Files.readString(file).contains("@Tag(\"alone\")");
                }
                assertThat(module.one("/project/properties/it.alone.phase").isPresent())
                        .as("it.alone.phase of %s", module.artifact())
                        .isEqualTo(found);
            }
        }
    }

    /** Its settings are those of the JVM, and the kit refuses a second one. */
    @Test
    void testWithASecurePort_locksIt() {
        Set<JavaClass> users = usersOf(target -> target.getName().equals("openSecurePort"))
                .map(user -> topLevel(user.getOwner()))
                .collect(toSet());
        assertThat(users).isNotEmpty().allMatch(user -> user.isAnnotatedWith(ResourceLock.class));
    }

    /** It ends what hangs. Shorter, it would end what is slow, beside other work. */
    @Test
    @Tag("H152")
    void timeoutOfATest_isTenMinutesAtLeast() throws IOException {
        Pattern timeout = Pattern.compile("@Timeout\\((?:value = )?(\\d+)");
        List<String> shorter = new ArrayList<>();
        for (Path file : sources("/src/")) {
            timeout.matcher(Files.readString(file))
                    .results()
                    .filter(each -> Integer.parseInt(each.group(1)) < 600)
                    .forEach(each -> shorter.add(file + ": " + each.group()));
        }
        assertThat(shorter).isEmpty();
    }

    /** Who sees it fail has not written it. */
    @Test
    @Tag("H152")
    void assertionOfTheKit_saysWhatItSaw() throws IOException {
        Pattern mute = Pattern.compile("assertThat\\((?:(?!;|\\.as\\().)*\\.(?:isTrue|isFalse)\\(\\)", Pattern.DOTALL);
        List<String> found = new ArrayList<>();
        for (Path file : sources("/src/main/java/dev/zkrecipes/test/")) {
            mute.matcher(Files.readString(file)).results().forEach(each -> found.add(file + ": " + each.group()));
        }
        assertThat(found).isEmpty();
    }

    private static List<Path> sources(String folder) throws IOException {
        List<Path> sources = new ArrayList<>();
        for (Pom module : Pom.modules()) {
            module.sources().stream()
                    .filter(file -> file.toString().contains(folder))
                    .forEach(sources::add);
        }
        assertThat(sources).isNotEmpty();
        return sources;
    }

    /** The methods of classes with a server that nobody of the same file calls, and from which such a call is reached. */
    private static Stream<JavaCodeUnit> usersOf(TargetPredicate target) {
        Set<JavaCodeUnit> users = new HashSet<>();
        TESTS.stream()
                .filter(tests -> topLevel(tests).getSimpleName().endsWith("IT"))
                .flatMap(tests -> tests.getCodeUnitAccessesFromSelf().stream())
                .filter(use -> target.test(use.getTarget()))
                .forEach(use -> addOutermostCallers(use.getOrigin(), users));
        return users.stream();
    }

    private static void addOutermostCallers(JavaCodeUnit origin, Set<JavaCodeUnit> outermost) {
        Set<JavaCodeUnit> seen = new HashSet<>();
        Deque<JavaCodeUnit> open = new ArrayDeque<>(List.of(origin));
        while (!open.isEmpty()) {
            JavaCodeUnit unit = open.pop();
            if (seen.add(unit)) {
                List<JavaCodeUnit> callers = unit.getAccessesToSelf().stream()
                        .map(access -> access.getOrigin())
                        .filter(caller -> topLevel(caller.getOwner()).equals(topLevel(unit.getOwner())))
                        .toList();
                if (callers.isEmpty()) {
                    outermost.add(unit);
                }
                open.addAll(callers);
            }
        }
    }

    private static boolean isOfTheWholeJvm(CodeUnitAccessTarget target) {
        return WHOLE_JVM.getOrDefault(target.getOwner().getFullName(), Set.of()).contains(target.getName());
    }

    private static boolean isAlone(JavaCodeUnit unit) {
        return Stream.of(unit, unit.getOwner(), topLevel(unit.getOwner()))
                .flatMap(TestsTogetherTest::tags)
                .anyMatch(ALONE::contains);
    }

    private static Stream<String> tags(HasAnnotations<?> place) {
        return place.getAnnotations().stream()
                .flatMap(annotation -> annotation.getRawType().isEquivalentTo(Tags.class)
                        ? Stream.of((JavaAnnotation<?>[]) annotation.getExplicitlyDeclaredProperty("value"))
                        : Stream.of(annotation))
                .filter(annotation -> annotation.getRawType().isEquivalentTo(Tag.class))
                .map(annotation -> (String) annotation.getExplicitlyDeclaredProperty("value"));
    }

    private static JavaClass topLevel(JavaClass tests) {
        return tests.getEnclosingClass().map(TestsTogetherTest::topLevel).orElse(tests);
    }

    private interface TargetPredicate {
        boolean test(CodeUnitAccessTarget target);
    }
}

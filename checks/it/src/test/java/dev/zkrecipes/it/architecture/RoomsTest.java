// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The rooms of the engine: who may use whom is known from a folder's name. */
class RoomsTest {
    private static final String ENGINE = "dev.zkrecipes.core.internal.";

    /** From the top floor down: each room uses only those below it. */
    private static final List<String> ROOMS = List.of(
            "lock",
            "client",
            "ask",
            "acquire",
            "hold",
            "clean",
            "source",
            "session",
            "reads",
            "handle",
            "queue",
            "diagnosis",
            "zk",
            "thread",
            "wire");

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.zkrecipes.core");

    @Test
    void everyRoom_isListedHere() {
        Set<String> found = CLASSES.stream()
                .map(each -> each.getPackageName())
                .filter(name -> name.startsWith(ENGINE))
                .map(name -> name.substring(ENGINE.length()))
                .collect(Collectors.toSet());
        assertThat(found).containsExactlyInAnyOrderElementsOf(ROOMS);
    }

    @TestFactory
    List<DynamicTest> room_usesOnlyThoseBelowIt() {
        return IntStream.range(1, ROOMS.size())
                .mapToObj(floor -> DynamicTest.dynamicTest(ROOMS.get(floor), () -> {
                    String[] above = ROOMS.subList(0, floor).stream()
                            .map(room -> ENGINE + room + "..")
                            .toArray(String[]::new);
                    noClasses()
                            .that()
                            .resideInAPackage(ENGINE + ROOMS.get(floor) + "..")
                            .should()
                            .dependOnClassesThat()
                            .resideInAnyPackage(above)
                            .check(CLASSES);
                }))
                .toList();
    }

    @Test
    void diagnosis_isOneClassToTheClient_oneToDoctor_andNothingToTheProtocol() {
        classes()
                .that()
                .resideInAPackage(ENGINE + "diagnosis")
                .and()
                .areTopLevelClasses()
                .and()
                .haveNameNotMatching(".*[.](ConnectionTrouble|ServerProbe)")
                .should()
                .notBePublic()
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages(ENGINE + "diagnosis", ENGINE + "client")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ENGINE + "diagnosis")
                .check(CLASSES);
    }

    @Test
    void rooms_areFreeOfCycles() {
        slices().matching(ENGINE + "(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    /** Each class with those that it uses, nested ones counted as their outermost. */
    private static Map<String, Set<String>> uses() {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass each : CLASSES) {
            Set<String> used = uses.computeIfAbsent(outermost(each), name -> new TreeSet<>());
            each.getDirectDependenciesFromSelf().stream()
                    .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                    .filter(target -> CLASSES.contain(target.getName()))
                    .map(RoomsTest::outermost)
                    .filter(name -> !name.equals(outermost(each)))
                    .forEach(used::add);
        }
        return uses;
    }

    private static String outermost(JavaClass each) {
        return each.getEnclosingClass().map(RoomsTest::outermost).orElse(each.getName());
    }

    /** A cycle is read as a whole or not at all. */
    @Test
    void classes_formNoLargeCycle() {
        Map<String, Set<String>> uses = uses();
        for (String each : uses.keySet()) {
            List<String> cycle = reachable(uses, each).stream()
                    .filter(other -> reachable(uses, other).contains(each))
                    .toList();
            assertThat(cycle).hasSizeLessThanOrEqualTo(3);
        }
    }

    private static Set<String> reachable(Map<String, Set<String>> uses, String from) {
        Set<String> found = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(uses.getOrDefault(from, Set.of()));
        while (!open.isEmpty()) {
            String next = open.remove();
            if (found.add(next)) {
                open.addAll(uses.getOrDefault(next, Set.of()));
            }
        }
        return found;
    }

    /** Two are the client and its builder with their engine: a final class lets nobody else in. */
    @Test
    void fewPairsOfClasses_useEachOther() {
        Map<String, Set<String>> uses = uses();
        List<String> pairs = uses.keySet().stream()
                .flatMap(each -> uses.get(each).stream()
                        .filter(other ->
                                each.compareTo(other) < 0 && uses.get(other).contains(each))
                        .map(other -> each + " and " + other))
                .toList();
        assertThat(pairs).hasSizeLessThanOrEqualTo(8);
    }

    /** Users of the engine's ports, such as a test kit, make clients on them; applications see no seam. */
    @Test
    void applicationApi_showsNoPort() {
        noClasses()
                .that()
                .resideInAPackage("dev.zkrecipes.core")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.zkrecipes.core.spi.port..")
                .check(CLASSES);
    }
}

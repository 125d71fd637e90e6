// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The rooms of the engine: who may use whom is known from a folder's name. */
@Tag("one-jdk")
class RoomsTest {
    private static final String ENGINE = "dev.zkrecipes.core.internal.";

    /** From the top floor down: each room uses only those below it. */
    private static final List<String> ROOMS =
            List.of("client", "lock", "revoke", "acquire", "node", "queue", "session", "zk", "thread", "wire");

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
    void rooms_areFreeOfCycles() {
        slices().matching(ENGINE + "(*)..").should().beFreeOfCycles().check(CLASSES);
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

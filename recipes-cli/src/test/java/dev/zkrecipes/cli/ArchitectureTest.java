// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of the house that zklock keeps. {@code checks/it} has those of the library, and is built beside. */
class ArchitectureTest {
    private static final JavaClasses ZKLOCK = new ClassFileImporter().importPath("target/classes");

    /** But for doctor, which looks at servers as the client does, and is shipped with it in one jar. */
    @Test
    void usesNothingInternalOfCore() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.zkrecipes.cli.doctor")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.zkrecipes.core.internal..")
                .check(ZKLOCK);
    }

    @Test
    void noMethodDeclaresExceptionOrThrowable() {
        noMethods()
                .that(describe("are not synthetic", m -> !m.getModifiers().contains(JavaModifier.SYNTHETIC)))
                .and()
                .areDeclaredInClassesThat()
                .areNotAnnotatedWith(FunctionalInterface.class)
                .should()
                .declareThrowableOfType(describe(
                        "Exception or Throwable",
                        c -> c.isEquivalentTo(Exception.class) || c.isEquivalentTo(Throwable.class)))
                .check(ZKLOCK);
    }

    @Test
    void publicClassesAreClosed() {
        classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .and()
                .areNotInterfaces()
                .and()
                .areNotAssignableTo(Throwable.class)
                .should(be(describe("final or sealed", ArchitectureTest::isClosed)))
                .check(ZKLOCK);
    }

    @ParameterizedTest
    @ValueSource(strings = {"LICENSE", "NOTICE"})
    void licenceAndNotice_arePacked(String file) {
        assertThat(Path.of("target/classes/META-INF", file)).hasSameBinaryContentAs(Path.of("..", file));
    }

    private static boolean isClosed(JavaClass javaClass) {
        return javaClass.getModifiers().contains(JavaModifier.FINAL)
                || javaClass.isEnum()
                || javaClass.reflect().isSealed();
    }
}

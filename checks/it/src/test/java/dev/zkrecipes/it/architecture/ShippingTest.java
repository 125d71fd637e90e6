// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;

/** What a release consists of. {@code bin/reproduce} looks into the jars themselves. */
class ShippingTest {
    private static final Pom PARENT = Pom.parent();
    private static final Pom BOM = Pom.ofModule("recipes-bom");
    private static final String MANAGED = "/project/dependencyManagement/dependencies/dependency";

    @Test
    void bom_listsThePublishedModules_andNothingElse() {
        assertThat(Pom.published()).isNotEmpty();
        assertThat(BOM.all(MANAGED + "/artifactId"))
                .containsExactlyInAnyOrderElementsOf(
                        Pom.published().stream().map(Pom::artifact).toList());
        assertThat(BOM.all(MANAGED + "/groupId")).containsOnly("dev.zkrecipes");
        assertThat(BOM.all(MANAGED + "/version")).containsOnly("${project.version}");
    }

    /** It has no parent: otherwise its users would also get the parent's versions of zookeeper and junit. */
    @Test
    void bom_repeatsElementsItDoesNotInherit() {
        assertThat(BOM.all("/project/parent")).isEmpty();
        for (String path : List.of(
                "version",
                "url",
                "inceptionYear",
                "organization/name",
                "licenses/license/name",
                "licenses/license/url",
                "developers/developer/name",
                "scm/url",
                "scm/connection")) {
            assertThat(BOM.all("/project/" + path)).as(path).isNotEmpty().isEqualTo(PARENT.all("/project/" + path));
        }
    }

    @Test
    void publishedModule_hasItsOwnModuleName() {
        for (Pom pom : Pom.published()) {
            assertThat(pom.one("/project/properties/module.name"))
                    .as(pom.artifact())
                    .contains(
                            pom.artifact().replace("recipes-", "dev.zkrecipes.").replace("-boot-starter", ""));
        }
    }

    @Test
    void publishedModule_hasNameAndDescription() {
        for (Pom pom : Pom.published()) {
            assertThat(pom.one("/project/name")).as(pom.artifact()).isPresent();
            assertThat(pom.one("/project/description")).as(pom.artifact()).isPresent();
        }
    }

    @Test
    void publishedModule_isABundle_thatExportsNothingInternal() throws IOException {
        for (Pom pom : Pom.built()) {
            Attributes headers;
            try (InputStream file = Files.newInputStream(pom.folder().resolve("target/classes/META-INF/MANIFEST.MF"))) {
                headers = new Manifest(file).getMainAttributes();
            }
            String name = pom.one("/project/properties/module.name").orElseThrow();
            assertThat(headers.getValue("Bundle-SymbolicName")).isEqualTo(name);
            assertThat(headers.getValue("Export-Package"))
                    .as(pom.artifact())
                    .contains(name + ";version=")
                    .doesNotContain(".internal");
            assertThat(headers.getValue("Import-Package")).as(pom.artifact()).doesNotContain(".core.internal");
        }
    }

    /** {@code verify} resolves them as builds of users do, each with a Boot that chooses another Netty. */
    @Test
    void applications_useTheNewestBootOfEachLine_andAllThatTheyMayNeed() {
        List<Pom> applications = Pom.modules().stream()
                .filter(pom -> pom.artifact().startsWith("consumer-"))
                .toList();
        Pom starter = Pom.ofModule("recipes-spring-boot-starter");
        assertThat(applications)
                .hasSize(3)
                .extracting(pom -> pom.one("/project/parent/version").orElseThrow())
                .containsExactly(
                        PARENT.one("/project/properties/boot3.version").orElseThrow(),
                        starter.one("/project/properties/boot40.version").orElseThrow(),
                        starter.one("/project/properties/boot41.version").orElseThrow());
        List<String> needed = Pom.published().stream()
                .map(Pom::artifact)
                .filter(module -> !module.equals("recipes-cli"))
                .toList();
        for (Pom pom : applications) {
            assertThat(pom.all("/project/dependencies/dependency/artifactId"))
                    .as(pom.artifact())
                    .containsExactlyInAnyOrderElementsOf(needed);
        }
    }

    /** Of the classes, from which the jar is packed, and so of its sources. zklock is built beside: it has its own test. */
    @Test
    void publishedModule_bringsLicenceAndNotice() {
        assertThat(Pom.built()).hasSize(Pom.published().size() - 1);
        for (Pom pom : Pom.built()) {
            Path packed = pom.folder().resolve("target/classes/META-INF");
            for (String file : List.of("LICENSE", "NOTICE")) {
                assertThat(packed.resolve(file))
                        .hasSameBinaryContentAs(PARENT.folder().resolve(file));
            }
        }
    }
}

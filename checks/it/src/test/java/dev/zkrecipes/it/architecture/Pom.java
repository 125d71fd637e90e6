// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** A module's {@code pom.xml} as it is written, without what it inherits. */
record Pom(Path folder, Document document) {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    static Pom parent() {
        return in(ROOT);
    }

    /** Every module, by the order of the build. */
    static List<Pom> modules() {
        return parent().all("/project/modules/module").stream()
                .map(folder -> in(ROOT.resolve(folder)))
                .toList();
    }

    static Pom ofModule(String artifact) {
        return modules().stream()
                .filter(pom -> pom.artifact().equals(artifact))
                .findFirst()
                .orElseThrow();
    }

    /** Those that a release would deploy, the bom and the parent apart. */
    static List<Pom> published() {
        return modules().stream()
                .filter(pom -> pom.one("/project/packaging").isEmpty())
                .filter(pom -> !pom.one("/project/properties/maven.deploy.skip").equals(Optional.of("true")))
                .toList();
    }

    /** Those that recipes-it depends on, which are built when its tests run. */
    static List<Pom> built() {
        return ofModule("recipes-it")
                .all("/project/dependencies/dependency[groupId='dev.zkrecipes']/artifactId")
                .stream()
                .map(Pom::ofModule)
                .toList();
    }

    /**
     * The sources below its folder. Only they stay as they are during a build: in the folders of other modules for what
     * is built, files come and go meanwhile.
     */
    List<Path> sources() throws IOException {
        Path sources = folder.resolve("src");
        if (!Files.isDirectory(sources)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    String artifact() {
        return one("/project/artifactId").orElseThrow();
    }

    Optional<String> one(String path) {
        return all(path).stream().findFirst();
    }

    List<String> all(String path) {
        try {
            NodeList found =
                    (NodeList) XPathFactory.newInstance().newXPath().evaluate(path, document, XPathConstants.NODESET);
            return IntStream.range(0, found.getLength())
                    .mapToObj(i -> found.item(i).getTextContent().trim())
                    .toList();
        } catch (XPathExpressionException e) {
            throw new IllegalArgumentException(path, e);
        }
    }

    private static Pom in(Path folder) {
        Path file = folder.resolve("pom.xml");
        try (var content = Files.newInputStream(file)) {
            return new Pom(
                    folder,
                    DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(content));
        } catch (IOException | SAXException | ParserConfigurationException e) {
            throw new IllegalStateException(file.toString(), e);
        }
    }
}

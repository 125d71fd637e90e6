// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code zklock} for those who have no checkout. {@code bin/reproduce} looks for the manual, which a release has. */
class ShippedIT {
    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Pattern SCRIPT = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    private static Path archive() throws IOException {
        try (Stream<Path> files = Files.list(TARGET)) {
            List<Path> archives = files.filter(each -> each.toString().endsWith("-zklock.tar.gz"))
                    .toList();
            assertThat(archives).hasSize(1);
            return archives.get(0);
        }
    }

    private static String text(JarFile jar, String entry) throws IOException {
        JarEntry found = jar.getJarEntry(entry);
        assertThat(found).as(entry).isNotNull();
        return new String(jar.getInputStream(found).readAllBytes(), StandardCharsets.UTF_8);
    }

    /** The artifacts of others on this class path of which something is in {@code zklock}. */
    private static Set<String> partsOf(JarFile zklock) throws IOException {
        Set<String> parts = new TreeSet<>();
        for (String each : System.getProperty("java.class.path").split(":")) {
            Path file = Path.of(each);
            String artifact = file.getParent().getParent().getFileName().toString();
            if (each.endsWith(".jar") && !artifact.startsWith("recipes-")) {
                try (JarFile jar = new JarFile(file.toFile())) {
                    if (jar.stream()
                            .map(JarEntry::getName)
                            .anyMatch(name -> name.matches("[a-z].*\\.class") && zklock.getEntry(name) != null)) {
                        parts.add(artifact);
                    }
                }
            }
        }
        return parts;
    }

    @Test
    void jar_hasLicencesAndNoticesOfAllItsParts() throws IOException {
        try (JarFile jar = new JarFile(TARGET.resolve("zklock.jar").toFile())) {
            assertThat(text(jar, "META-INF/LICENSE")).isEqualTo(Files.readString(Path.of("../LICENSE")));
            String notice = text(jar, "META-INF/NOTICE");
            assertThat(notice).startsWith(Files.readString(Path.of("../NOTICE")));
            Set<String> named = notice.lines()
                    .filter(line -> line.startsWith("  ") && !line.startsWith("   "))
                    .flatMap(line -> Stream.of(line.trim().split(",\\s*")))
                    .collect(Collectors.toSet());
            assertThat(named).hasSizeGreaterThan(10).isEqualTo(partsOf(jar));
            for (String name : List.of("slf4j", "HdrHistogram", "snappy")) {
                String licence = "licenses/" + name + ".txt";
                assertThat(notice).contains(licence);
                assertThat(text(jar, "META-INF/" + licence)).containsIgnoringCase("copyright");
            }
        }
    }

    /** Its suites need JUnit and AssertJ, which are not in the jar. */
    @Test
    void jar_hasTheServerOfTheTestKit_andNothingElseOfIt() throws IOException {
        try (JarFile jar = new JarFile(TARGET.resolve("zklock.jar").toFile())) {
            assertThat(jar.stream()
                            .map(JarEntry::getName)
                            .filter(name -> name.matches("dev/zkrecipes/test/.*\\.class"))
                            .map(name -> name.replaceFirst("dev/zkrecipes/test/(.*?)(\\$.*)?\\.class", "$1"))
                            .distinct())
                    .containsExactlyInAnyOrder(
                            "EmbeddedZooKeeper",
                            "EmbeddedZooKeeperBuilder",
                            "KitThreads",
                            "LoopbackPort",
                            "ObservedServer",
                            "OperatorRequest",
                            "RequestCounts",
                            "RequestType",
                            "RunningServer",
                            "SecurePort",
                            "ServerSettings",
                            "ServerTree",
                            "TlsKeys");
        }
    }

    /** Otherwise a class is missed only when somebody uses it. */
    @Test
    void jar_hasAllOfOurClassesThatItsClassesUse() throws IOException {
        try (JarFile jar = new JarFile(TARGET.resolve("zklock.jar").toFile())) {
            JavaClasses ours = new ClassFileImporter()
                    .withImportOption(location -> location.contains("/dev/zkrecipes/"))
                    .importJar(jar);
            Set<String> used = ours.stream()
                    .flatMap(each -> each.getDirectDependenciesFromSelf().stream())
                    .map(each -> each.getTargetClass().getBaseComponentType().getName())
                    .filter(name -> name.startsWith("dev.zkrecipes."))
                    .collect(Collectors.toSet());
            assertThat(used)
                    .hasSizeGreaterThan(200)
                    .allSatisfy(name -> assertThat(jar.getEntry(name.replace('.', '/') + ".class"))
                            .as(name)
                            .isNotNull());
        }
    }

    @Test
    void archive_unpacked_works() throws IOException, InterruptedException {
        assertThat(run("tar", "-xzf", archive().toString()).out()).isEmpty();
        try (Stream<Path> files = Files.list(folder)) {
            folder = files.findFirst().orElseThrow();
        }
        Ran version = run("./zklock", "--version");
        assertThat(version.code()).as(version.out()).isZero();
        assertThat(version.out()).contains(folder.getFileName().toString().replaceFirst("zklock-", ""));
        assertThat(run("./zklock", "--help").out()).contains("Usage: zklock", "run", "ls");
        assertThat(run("bash", "-c", "source completion/zklock && complete -p zklock")
                        .out())
                .contains("_complete_zklock");
        assertThat(folder.resolve("LICENSE")).hasSameTextualContentAs(Path.of("../LICENSE"));
        assertThat(folder.resolve("NOTICE")).exists();
        assertThat(folder.resolve("licenses/slf4j.txt")).exists();
    }

    @Test
    void archive_installedAsThePageSays_works_andSoDoesTheNext() throws IOException, InterruptedException {
        List<String> scripts = SCRIPT.matcher(Files.readString(Path.of("../docs/zklock.md")))
                .results()
                .map(found -> found.group(1).replace("to=/usr/local", "to='" + folder + "/local'"))
                .filter(each -> each.contains("$to/"))
                .toList();
        assertThat(scripts).hasSize(2);
        String first = scripts.get(0).replace("VERSION", "1") + scripts.get(1);
        String next = scripts.get(0).replace("VERSION", "2");
        for (String version : List.of("1", "2")) {
            String rename = "mkdir zklock-" + version + "; tar -xzf " + archive() + " --strip-components 1 -C zklock-"
                    + version + "; tar -czf recipes-cli-" + version + "-zklock.tar.gz zklock-" + version;
            assertThat(run("bash", "-c", rename).out()).isEmpty();
        }
        assertThat(run("bash", "-c", "set -e; mkdir -p local/lib local/bin\n" + first + next)
                        .out())
                .isEmpty();
        assertThat(run("readlink", "local/lib/zklock").out()).isEqualTo("zklock-2\n");
        assertThat(run("local/bin/zklock", "--version").code()).isZero();
        String completion = "source local/share/bash-completion/completions/zklock && complete -p zklock";
        assertThat(run("bash", "-c", completion).out()).contains("_complete_zklock");
    }

    /** In the folder: the launcher must not need the checkout. */
    private Ran run(String... line) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(line).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("ZKLOCK_"));
        Process process = builder.start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ran(process.waitFor(), out, "");
    }
}

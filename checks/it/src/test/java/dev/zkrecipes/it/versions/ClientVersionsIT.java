// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.lang.reflect.InvocationTargetException;
import java.net.URLClassLoader;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Client jars and Guavas from the oldest that this library works with, and what is told of those that are older. */
@Tag("H98")
@Tag("soak")
@Timeout(600)
@WithZooKeeper
class ClientVersionsIT {
    private final EmbeddedZooKeeper server;

    @TempDir
    private Path folder;

    ClientVersionsIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    /** The newest of both is what all other tests have. */
    @ParameterizedTest
    @CsvSource({"3.6.0, 23.3-jre", "3.7.2, 27.1-jre"})
    void everyRecipe_works(String zooKeeper, String guava) throws Exception {
        tour(Jars.ofTheBuild().withZooKeeper(zooKeeper).withGuava(guava));
    }

    @Test
    void everyRecipe_worksWithTheNewestGuava() throws Exception {
        tour(Jars.ofTheBuild().withZooKeeper("3.8.6"));
    }

    /** {@code docs/versions.md} says that these may be excluded. */
    @Test
    void everyRecipe_worksWithoutTheJarsThatUsersMayExclude() throws Exception {
        tour(Jars.ofTheBuild().without("netty-tcnative-", "commons-io-", "audience-annotations-"));
    }

    private void tour(Jars jars) throws Exception {
        try (Jvm tour = Jvm.start(folder.resolve("output"), jars, Tour.class, server.connectString())) {
            tour.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.4.14", "3.5.10"})
    void olderClientJar_isNamedWhenTheClientIsCreated(String version) throws Exception {
        assertNamed(
                Jars.ofTheBuild().withZooKeeper(version),
                "the ZooKeeper client on the class path",
                "/zookeeper-" + version + ".jar, is older than 3.6.0");
    }

    @Test
    void olderGuava_isNamedWhenTheClientIsCreated() throws Exception {
        assertNamed(
                Jars.ofTheBuild().withGuava("20.0"),
                "the Guava on the class path",
                "/guava-20.0.jar, is older than 23.3");
    }

    private void assertNamed(Jars jars, String what, String version) throws Exception {
        try (URLClassLoader application = new URLClassLoader(jars.urls(), ClassLoader.getPlatformClassLoader())) {
            Class<?> client = application.loadClass(ZooKeeperClient.class.getName());
            assertThatThrownBy(() -> client.getMethod("connect", String.class).invoke(null, server.connectString()))
                    .isInstanceOf(InvocationTargetException.class)
                    .cause()
                    .satisfies(error -> assertThat(error.getClass().getName()).isEqualTo(LockException.class.getName()))
                    .hasMessageContaining(what)
                    .hasMessageContaining(version);
        }
    }
}

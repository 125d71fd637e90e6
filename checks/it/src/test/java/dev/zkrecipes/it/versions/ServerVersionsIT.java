// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Soon;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers from the oldest that this library works with, and what is told of those that are older. */
@Tag("H98")
@Tag("soak")
@Timeout(600)
class ServerVersionsIT {
    private static final Duration LIMIT = Duration.ofSeconds(120);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"3.6.4", "3.7.2", "3.8.6"})
    void everyRecipe_works(String version) throws Exception {
        try (Jvm server = Jvm.startServer(folder, version)) {
            Tour.run(server.connectString());
        }
    }

    /** Up to 3.6 a server cuts the connection on which it is asked for the identity. Servers of 3.9 are in DoctorIT. */
    @ParameterizedTest
    @CsvSource({"3.6.4, older than 3.7", "3.7.2, authenticated as ", "3.8.6, authenticated as "})
    @Tag("H141")
    void doctor_findsAllWell(String version, String identity) throws Exception {
        try (Jvm server = Jvm.startServer(folder, version);
                Jvm doctor = Jvm.start(
                        folder.resolve("doctor"),
                        Jars.ofTheBuild(),
                        "dev.zkrecipes.cli.ZkLock",
                        "doctor",
                        "--connect",
                        server.connectString())) {
            assertThat(doctor.join())
                    .doesNotContain("FAIL")
                    .contains("standalone " + version, "rights ", "identity ", identity);
        }
    }

    /** It knows no create that tells what it made, so nothing works. */
    @Test
    void server34_isNamedAsTooOld() throws Exception {
        try (Jvm server = Jvm.startServer(folder, "3.4.14");
                ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            assertThatThrownBy(() -> new InterProcessMutex(client, "/old/mutex").tryAcquire(LIMIT))
                    .isExactlyInstanceOf(LockException.class)
                    .hasMessageStartingWith("lock /old/mutex: ")
                    .hasMessageContaining("older than 3.6, ")
                    .hasMessageContaining("upgrade all servers");
        }
    }

    /** It knows no reads in a multi, and cuts the connection on which one comes: once it has said so, none is sent. */
    @Test
    void server35_isNamedAsTooOld_andOtherLeasesStand() throws Exception {
        try (Jvm server = Jvm.startServer(folder, "3.5.10");
                FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port());
                ZooKeeperClient client = ZooKeeperClient.connect(proxy.connectString());
                Lease held = new InterProcessMutex(client, "/old/mutex").acquire()) {
            assertNamed(client, "/old/first");
            long sent = proxy.requestsSeen().of(RequestType.MULTI_READ);
            assertNamed(client, "/old/second");
            assertThat(proxy.requestsSeen().of(RequestType.MULTI_READ))
                    .isEqualTo(sent)
                    .isPositive();
            Soon.await().until(held::isValid);
        }
    }

    private static void assertNamed(ZooKeeperClient client, String path) {
        assertThatThrownBy(() -> new InterProcessSemaphore(client, path, 1).tryAcquire(LIMIT))
                .isExactlyInstanceOf(LockException.class)
                .hasMessageStartingWith("lock " + path + ": ")
                .hasMessageContaining("older than 3.6, ");
    }
}

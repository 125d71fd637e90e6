// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that does not accept the identity of a client: all its requests fail with that reason. */
class RefusedCredentialsIT extends ServerStage {
    private static final String REFUSED =
            "ZooKeeper refused the credentials of this client, or requires some that it did not give"
                    + " (sessionRequireClientSASLAuth, or enforce.auth.enabled with enforce.auth.schemes, on the servers),"
                    + " or its SASL login failed (the log of org.apache.zookeeper tells more); check its auth settings,"
                    + " and the server's";

    private static void assertRefused(CompletableFuture<Lease> request) {
        Soon.await().until(request::isDone);
        assertThatThrownBy(request::join)
                .cause()
                .isInstanceOf(LockAccessException.class)
                .hasMessageStartingWith(REFUSED + ": the lock /refused cannot be ");
    }

    @Test
    @Tag("H104")
    void refusedCredentials_failWaiters_andShowInTheState() {
        List<ConnectionState> states = new CopyOnWriteArrayList<>();
        try (ZooKeeperClient client = settings()
                .sessionTimeout(Duration.ofSeconds(4))
                .auth("nosuchscheme", "user:password".getBytes(StandardCharsets.UTF_8))
                .build()) {
            client.addConnectionListener(states::add);
            InterProcessMutex mutex = new InterProcessMutex(client, "/refused");
            List<CompletableFuture<Lease>> waiting =
                    Stream.generate(mutex::acquireAsync).limit(3).toList();
            waiting.forEach(RefusedCredentialsIT::assertRefused);
            assertRefused(mutex.acquireAsync()); // in the next session
            Soon.await().until(() -> states.contains(ConnectionState.AUTH_FAILED));
            assertThat(states).doesNotContain(ConnectionState.EXPIRED);
            assertThatThrownBy(mutex::tryAcquire)
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageStartingWith(REFUSED);
        }
        assertThat(server.children("/refused")).isEmpty();
    }

    /** In FIPS mode, which is the default of 3.9.5, ZooKeeper's client cannot even begin to log in with DIGEST-MD5. */
    @Test
    @Tag("H104")
    @Tag("alone")
    void loginThatCannotBegin_failsWaiters_andShowsInTheState() {
        Configuration before = Configuration.getConfiguration();
        Configuration.setConfiguration(new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return new AppConfigurationEntry[] {
                    new AppConfigurationEntry(
                            "org.apache.zookeeper.server.auth.DigestLoginModule",
                            AppConfigurationEntry.LoginModuleControlFlag.REQUIRED,
                            Map.of("username", "super", "password", "secret"))
                };
            }
        });
        ZKClientConfig digest = new ZKClientConfig();
        digest.setProperty("zookeeper.fips-mode", "true");
        try (ZooKeeperClient client = settings()
                .sessionTimeout(Duration.ofSeconds(4))
                .clientConfig(digest)
                .build()) {
            List<ConnectionState> states = new CopyOnWriteArrayList<>();
            client.addConnectionListener(states::add);
            assertRefused(new InterProcessMutex(client, "/refused").acquireAsync());
            Soon.await().until(() -> states.contains(ConnectionState.AUTH_FAILED));
            assertRefused(new InterProcessMutex(client, "/refused").acquireAsync()); // in the next session
        } finally {
            Configuration.setConfiguration(before);
        }
    }

    @Test
    @Tag("H104")
    @Tag("alone")
    void refusedCredentials_areLoggedAsSuch() {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (ZooKeeperClient client = settings()
                .auth("nosuchscheme", "user:password".getBytes(StandardCharsets.UTF_8))
                .build()) {
            assertRefused(new InterProcessMutex(client, "/refused").acquireAsync());
            Soon.await().until(() -> printed.toString(StandardCharsets.UTF_8).contains("WARN"));
        } finally {
            System.setErr(terminal);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains(REFUSED)
                .contains("acquires fail")
                .doesNotContain("queue again");
    }

    /**
     * What has become of the data, only a server that serves can tell. The proxy accepts connections for a dead server,
     * too: of a client that cannot even connect, ZooKeeper itself may end the session first.
     */
    @Test
    @Tag("H144")
    @Tag("alone")
    void lossOfAllServers_isNotTakenForALossOfData() {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (EmbeddedZooKeeper other = EmbeddedZooKeeper.builder()
                        .tickTime(Duration.ofMillis(100))
                        .start();
                FaultProxy proxy = FaultProxy.to(other);
                ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(proxy.connectString())
                        .sessionTimeout(Duration.ofSeconds(4))
                        .build()) {
            Soon.await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
            other.stop();
            Soon.await()
                    .atMost(Duration.ofSeconds(60)) // one and a half session time-outs, in which the process runs
                    .until(() -> printed.toString(StandardCharsets.UTF_8).contains("has ended (EXPIRED)"));
        } finally {
            System.setErr(terminal);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("its handle is given up")
                .doesNotContain("lost data");
    }

    /** They refuse the session for ever. So the operator is told to look at their data. */
    @Test
    @Tag("H109")
    @Tag("alone")
    void serversThatKnowLess_areTakenForALossOfData() throws Exception {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (EmbeddedZooKeeper emptied = EmbeddedZooKeeper.start();
                EmbeddedZooKeeper full = EmbeddedZooKeeper.start()) {
            for (int i = 0; i < 100; i++) {
                full.createNode("/before-" + i, new byte[0]);
            }
            try (ZooKeeperClient client = ZooKeeperClient.builder()
                    .connectString(full.connectString())
                    .sessionTimeout(Duration.ofSeconds(8))
                    .build()) {
                new InterProcessMutex(client, "/seen").acquire().close(); // which tells the client what has been
                client.updateConnectString(emptied.connectString());
                full.stop();
                Soon.await()
                        .atMost(Duration.ofSeconds(60)) // twice the session time-out, if connections are refused slowly
                        .until(() -> printed.toString(StandardCharsets.UTF_8).contains("has ended (EXPIRED)"));
            }
        } finally {
            System.setErr(terminal);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("its handle is given up")
                .contains("they have lost data and know less than this session has seen")
                .contains("look for a restored or empty data directory");
    }
}

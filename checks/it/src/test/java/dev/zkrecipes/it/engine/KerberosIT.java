// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.security.auth.DestroyFailedException;
import javax.security.auth.Subject;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.kerberos.KerberosTicket;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import javax.security.auth.spi.LoginModule;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that log in by SASL: what they get if that works, and what they say if it does not. */
@Tag("alone")
@Tag("H139")
@Timeout(600)
class KerberosIT {
    private static final String KRB5 = "java.security.krb5.conf";
    private static final String JAAS = "java.security.auth.login.config";
    private static final String SERVICE = "zookeeper/localhost";
    private static final String WITHOUT_ANSWER = "no KDC answers";
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Map<String, AppConfigurationEntry[]> sections = new HashMap<>();
    private final Configuration before = configuration();
    private String mine; // with rights for who made it
    private String open; // to the world

    @TempDir
    private static Path folder;

    private static Kdc kdc;
    private static ServerJvm kerberized;

    private ServerJvm server;
    private FaultProxy proxy;

    private static Configuration configuration() {
        try {
            return Configuration.getConfiguration();
        } catch (SecurityException e) {
            return null; // there is none
        }
    }

    @BeforeAll
    static void startServer() throws Exception {
        kdc = Kdc.make(folder, SERVICE, "orders");
        kerberized = server("""
                Server {
                  com.sun.security.auth.module.Krb5LoginModule required
                  useKeyTab=true storeKey=true isInitiator=false
                  keyTab="%s" principal="%s@%s";
                };
                """.formatted(kdc.keytab(SERVICE), SERVICE, Kdc.REALM));
    }

    private static ServerJvm server(String jaas) throws IOException {
        return new ServerJvm(
                KRB5 + "=" + kdc.config(),
                JAAS + "=" + Files.writeString(Files.createTempFile(folder, "server", ".jaas"), jaas),
                "zookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider");
    }

    @AfterAll
    static void stopServer() {
        kerberized.close();
    }

    @BeforeEach
    void start(TestInfo test) throws IOException {
        mine = "/mine-" + test.getTestMethod().orElseThrow().getName();
        open = mine.replace("mine", "open");
        System.setProperty(KRB5, kdc.config().toString());
        Configuration.setConfiguration(new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return sections.get(name);
            }
        });
        connectTo(kerberized);
    }

    private void connectTo(ServerJvm other) throws IOException {
        server = other;
        proxy = FaultProxy.to("127.0.0.1", server.port());
    }

    @AfterEach
    void stop() throws Exception {
        proxy.close();
        kdc.stop();
        Configuration.setConfiguration(before);
        System.clearProperty(JAAS);
        System.clearProperty(KRB5);
    }

    private void keytab(String section, Path keytab) {
        sections.put(section, new AppConfigurationEntry[] {
            new AppConfigurationEntry(
                    "com.sun.security.auth.module.Krb5LoginModule",
                    LoginModuleControlFlag.REQUIRED,
                    Map.of(
                            "useKeyTab", "true",
                            "storeKey", "true",
                            "doNotPrompt", "true",
                            "refreshKrb5Config", "true",
                            "keyTab", keytab.toString(),
                            "principal", "orders@" + Kdc.REALM)),
            new AppConfigurationEntry(Remembering.class.getName(), LoginModuleControlFlag.REQUIRED, Map.of())
        });
    }

    private static ZKClientConfig config() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ZOOKEEPER_SERVER_PRINCIPAL, SERVICE);
        return config;
    }

    private ZooKeeperClient client(ZKClientConfig config) {
        return ZooKeeperClient.builder()
                .connectString(proxy.connectString())
                .sessionTimeout(Duration.ofSeconds(20))
                .clientConfig(config)
                .build();
    }

    private InterProcessMutex mutex(ZooKeeperClient client) {
        return new InterProcessMutex(client, mine, LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL));
    }

    /** All that the server has, seen by a client that wants no identity. */
    private List<String> nodes() throws Exception {
        ZKClientConfig nobody = new ZKClientConfig();
        nobody.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        CountDownLatch connected = new CountDownLatch(1);
        try (ZooKeeper zk =
                new ZooKeeper("127.0.0.1:" + server.port(), 20_000, event -> connected.countDown(), nobody)) {
            assertThat(connected.await(120, TimeUnit.SECONDS)).isTrue();
            return zk.getChildren("/", false);
        }
    }

    /** Fails with words that name the cause, leaves no node, and shows it in the state. */
    private void assertRefused(ZooKeeperClient client, String... words) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, open);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(mutex::acquire)
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageContainingAll(words);
            assertThatThrownBy(mutex::tryAcquire).hasMessageContainingAll(words);
        }
        // Between two attempts; during an attempt the client is connecting.
        Soon.await().until(() -> client.connectionState() == ConnectionState.AUTH_FAILED);
        assertThat(nodes()).doesNotContain(mine.substring(1), open.substring(1));
    }

    @Test
    void keytab_isTheIdentityOfItsLocks() throws Exception {
        keytab("Client", kdc.keytab("orders"));
        kdc.start();
        try (ZooKeeperClient client = client(config());
                Lease lease = mutex(client).acquire()) {
            assertThat(client.zooKeeper().orElseThrow().getACL(mine, null))
                    .containsExactly(new ACL(ZooDefs.Perms.ALL, new Id("sasl", "orders@" + Kdc.REALM)));
            proxy.cut();
            Soon.await().ignoreExceptions().untilAsserted(lease::verify); // once it has logged in again
            Soon.await().until(() -> lease.state() == LeaseState.HELD);
        }
    }

    @Test
    void missingKeytab_isNamed() throws Exception {
        Path keytab = folder.resolve("none.keytab");
        keytab("Client", keytab);
        kdc.start();
        try (ZooKeeperClient client = client(config())) {
            assertRefused(
                    client,
                    "the SASL login failed: ",
                    "the keytab " + keytab + " does not exist or cannot be read",
                    "to connect as nobody, set zookeeper.sasl.client=false");
        }
    }

    @Test
    void missingSection_isNamed() throws Exception {
        ZKClientConfig config = config();
        config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, "Orders");
        try (ZooKeeperClient client = client(config)) {
            assertRefused(client, "the JAAS configuration has no section 'Orders': add it");
        }
        System.setProperty(JAAS, "/etc/orders/jaas.conf");
        try (ZooKeeperClient client = client(new ZKClientConfig())) {
            assertRefused(client, "the JAAS configuration /etc/orders/jaas.conf has no section 'Client'");
        }
        ZKClientConfig nobody = new ZKClientConfig();
        nobody.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        try (ZooKeeperClient client = client(nobody)) {
            new InterProcessMutex(client, open).acquire().close();
            assertThatThrownBy(mutex(client)::acquire)
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageContaining("INVALIDACL");
        }
    }

    @Test
    void kdcThatIsAway_isNamed() throws Exception {
        keytab("Client", kdc.keytab("orders"));
        try (ZooKeeperClient client = client(config())) {
            assertRefused(client, WITHOUT_ANSWER);
        }
    }

    /** A KDC that does not answer yet is what comes of a machine that starts all at once. */
    @Test
    @Tag("H143")
    void kdcThatComesLate_isFound_withoutAnyRequest() throws Exception {
        keytab("Client", kdc.keytab("orders"));
        CountDownLatch attempts = new CountDownLatch(5);
        try (ServerSocket down = new ServerSocket()) {
            down.setReuseAddress(true);
            down.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), kdc.port()));
            Thread refusing = new Thread(() -> refuse(down, attempts), "no-kdc-yet");
            refusing.start();
            try (ZooKeeperClient client = client(config())) {
                assertThatThrownBy(mutex(client)::acquire)
                        .isInstanceOf(LockAccessException.class)
                        .hasMessageContaining(WITHOUT_ANSWER);
                assertThat(attempts.await(120, TimeUnit.SECONDS)).isTrue();
                Soon.await().until(() -> client.connectionState() == ConnectionState.AUTH_FAILED);
                assertThat(nodes()).doesNotContain(mine.substring(1), open.substring(1));
                down.close();
                refusing.join();
                kdc.start();
                assertThat(client.awaitConnected(LONG)).isTrue();
                mutex(client).acquire().close();
            }
        }
    }

    private static void refuse(ServerSocket port, CountDownLatch attempts) {
        while (!port.isClosed()) {
            try {
                port.accept().close();
                attempts.countDown();
            } catch (IOException e) {
                // It is over.
            }
        }
    }

    @Test
    void wrongServicePrincipal_isNamed() throws Exception {
        keytab("Client", kdc.keytab("orders"));
        kdc.start();
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ZOOKEEPER_SERVER_PRINCIPAL, "zk/elsewhere");
        try (ZooKeeperClient client = client(config)) {
            assertRefused(client, "there is no ticket for the server zk/elsewhere: ", "zookeeper.server.principal");
        }
    }

    /** What a held lock sees: nothing, as long as its connection stands. */
    @Test
    void ticketThatEnds_isMissedAtTheNextConnection() throws Exception {
        keytab("Client", kdc.keytab("orders"));
        kdc.start();
        try (ZooKeeperClient client = client(config())) {
            Lease lease = mutex(client).acquire();
            kdc.stop();
            Remembering.endTickets();
            lease.verify();
            Soon.await().until(lease::isValid);
            proxy.cut();
            Soon.await().atMost(LONG).until(() -> lease.state() == LeaseState.LOST);
            Soon.await().until(() -> client.connectionState() == ConnectionState.AUTH_FAILED);
            lease.close();
            assertThat(catchThrowable(mutex(client)::acquire)).isInstanceOf(LockAccessException.class);
            kdc.start();
            assertThat(client.awaitConnected(LONG)).isTrue();
            mutex(client).acquire().close(); // once the session before has ended
        }
    }

    /** Knows who has logged in. */
    public static final class Remembering implements LoginModule {
        private static final Queue<Subject> known = new ConcurrentLinkedQueue<>();

        static void endTickets() throws DestroyFailedException {
            for (Subject subject : known) {
                for (KerberosTicket ticket : subject.getPrivateCredentials(KerberosTicket.class)) {
                    ticket.destroy();
                }
            }
        }

        @Override
        public void initialize(
                Subject subject, CallbackHandler handler, Map<String, ?> shared, Map<String, ?> options) {
            known.add(subject);
        }

        @Override
        public boolean login() {
            return true;
        }

        @Override
        public boolean commit() {
            return true;
        }

        @Override
        public boolean abort() {
            return true;
        }

        @Override
        public boolean logout() {
            return true;
        }
    }

    /** A handle of the application's that has gone on as nobody. */
    @Test
    void wrappedHandle_whoseLoginFailed_isRefused() throws Exception {
        ZKClientConfig config = config();
        config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, "Orders");
        CountDownLatch connected = new CountDownLatch(1);
        try (ZooKeeper handle = new ZooKeeper(
                proxy.connectString(),
                20_000,
                event -> {
                    if (event.getState() == org.apache.zookeeper.Watcher.Event.KeeperState.SyncConnected) {
                        connected.countDown();
                    }
                },
                config)) {
            assertThat(connected.await(120, TimeUnit.SECONDS)).isTrue();
            try (ZooKeeperClient client = ZooKeeperClient.wrap(handle)) {
                assertThatThrownBy(new InterProcessMutex(client, open)::acquire)
                        .isInstanceOf(LockAccessException.class)
                        .hasMessageContaining("its SASL login failed");
            }
        }
        try (ZooKeeper handle = new ZooKeeper(proxy.connectString(), 20_000, event -> {}, config);
                ZooKeeperClient client = ZooKeeperClient.over(() -> handle)) {
            assertThatThrownBy(new InterProcessMutex(client, open)::acquire)
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageContaining("its SASL login failed");
        }
        assertThat(nodes()).doesNotContain(mine.substring(1), open.substring(1));
    }

    @Test
    void digestMd5_isAnIdentity_andAWrongPasswordIsNone() throws Exception {
        proxy.close();
        try (ServerJvm digests = server("""
                Server {
                  org.apache.zookeeper.server.auth.DigestLoginModule required
                  user_orders="secret";
                };
                """)) {
            connectTo(digests);
            loginByDigest();
        }
    }

    private void loginByDigest() throws Exception {
        sections.put("Client", digest("a guess"));
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty("zookeeper.fips-mode", "false");
        try (ZooKeeperClient client = client(config)) {
            assertRefused(client, "ZooKeeper refused the credentials of this client");
            sections.put("Client", digest("secret"));
            assertThat(client.awaitConnected(LONG)).isTrue();
            mutex(client).acquire().close();
            assertThat(client.zooKeeper().orElseThrow().getACL(mine, null).stream()
                            .map(ACL::getId)
                            .collect(Collectors.toList()))
                    .containsExactly(new Id("sasl", "orders"));
        }
    }

    private static AppConfigurationEntry[] digest(String password) {
        return new AppConfigurationEntry[] {
            new AppConfigurationEntry(
                    "org.apache.zookeeper.server.auth.DigestLoginModule",
                    LoginModuleControlFlag.REQUIRED,
                    Map.of("username", "orders", "password", password))
        };
    }
}

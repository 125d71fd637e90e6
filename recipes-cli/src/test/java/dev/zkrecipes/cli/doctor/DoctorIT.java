// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code zklock doctor} at servers that are well, and at those that are not. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class DoctorIT {
    private static final byte[] NOTHING = {};

    private final EmbeddedZooKeeper server;

    @TempDir
    private Path folder;

    DoctorIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    /** Asks again for as long as this machine is too busy to answer itself. */
    static Ran doctor(String... arguments) {
        Ran ran = doctorWithWarnings(arguments);
        assertThat(ran.err()).isEmpty();
        return ran;
    }

    private static Ran doctorWithWarnings(String... arguments) {
        Ran ran;
        int asked = 0;
        do {
            ran = Ran.zklock(
                    Stream.concat(Stream.of("doctor"), Stream.of(arguments)).toArray(String[]::new));
            asked++;
        } while (asked < 10 && isTooBusy(ran.out()));
        return ran;
    }

    private static boolean isTooBusy(String out) {
        return Stream.of("not answered within", "does not answer", "gives no session within")
                .anyMatch(out::contains);
    }

    /** The lines that name something to do. */
    static List<String> failed(Ran ran) {
        return ran.lines().stream().filter(line -> line.startsWith("FAIL ")).toList();
    }

    @Test
    void allIsWell_endsWith0_andLeavesNothingBehind() {
        server.createNode("/well", NOTHING);
        Ran ran = doctor("--connect", server.connectString() + "/well", "/locks");
        assertThat(ran.code()).as(ran.out()).isZero();
        assertThat(ran.lines()).hasSize(9).allMatch(line -> line.startsWith("OK "));
        assertThat(ran.lines().get(0)).isEqualTo("OK    connect          1 server, chroot /well");
        assertThat(ran.lines().get(1))
                .contains(
                        "127.0.0.1, standalone 3.",
                        ", no TLS, session in ",
                        "limits unknown (conf is not in its 4lw.commands.whitelist)");
        assertThat(ran.out())
                .contains("chroot           /well exists", "rights           create, list, read and delete at /locks")
                .contains(
                        "containers       supported",
                        "time-out 30.0 s; packets up to ",
                        "identity         authenticated as ",
                        "clock differs from this machine's by ")
                .containsPattern("cost +acquire [0-9.]+ ms: one round trip .*; release [0-9.]+ ms");
        assertThat(server.children("/well")).isEmpty();
    }

    @Test
    @Tag("H180")
    void locksOfWhichThreadsWaitForEachOther_areNamed_byLsToo() {
        String a = "/stuck/a/lock-000000000";
        String b = "/stuck/b/lock-000000000";
        String chroot = "/below";
        String servers = server.connectString() + chroot;
        List.of("", "/stuck", "/stuck/a", "/stuck/b").forEach(path -> server.createNode(chroot + path, NOTHING));
        server.createNode(chroot + a + 1, NOTHING);
        server.createNode(chroot + b + 2, NOTHING);
        server.createNode(chroot + b + 3, labelled("first", a + 1));
        server.createNode(chroot + a + 4, labelled("second", b + 2));
        Ran ran = doctor("--connect", servers, "--locks", "/stuck");
        assertThat(ran.code()).isEqualTo(1);
        assertThat(failed(ran))
                .singleElement(STRING)
                .startsWith("FAIL  deadlock ")
                .contains("first waits with " + b + 3, "and holds " + a + 1)
                .contains("second waits with " + a + 4, "and holds " + b + 2);
        assertThat(ran.lines()).filteredOn(line -> line.contains("deadlock")).hasSize(1);
        assertThat(Ran.zklock("ls", "--connect", servers, "/stuck/b").out()).contains("holds /stuck/a");
        server.deleteNode(chroot + a + 4);
        ran = doctor("--connect", servers, "--locks", "/stuck");
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).contains("deadlocks        0 among 2 locks at /stuck");
    }

    /** A pipe can be read only once. */
    @Test
    @Tag("H265")
    void credentialsFromAPipe_serveTheLookForDeadlocks_too() throws IOException, InterruptedException {
        String line = "exec \"$ZKLOCK\" doctor --auth-file <(echo digest:user:password) --locks /";
        try (RunningZkLock zklock = RunningZkLock.script(folder, server, line)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isNotEqualTo(64);
            assertThat(zklock.err()).isEmpty();
        }
    }

    private static byte[] labelled(String owner, String held) {
        return ("zkrecipes 1\nowner=" + owner + "\nholds=" + held + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void terminal_getsColoursAndItsWidth() throws IOException, InterruptedException {
        Tool.SCRIPT.require();
        String doctor = String.join(" ", RunningZkLock.java()) + " doctor --connect " + server.connectString();
        String both = "stty rows 24 cols 60; NO_COLOR= " + doctor + "; echo plain; NO_COLOR=1 " + doctor;
        ProcessBuilder builder = new ProcessBuilder("script", "-qec", both, "/dev/null").redirectErrorStream(true);
        builder.environment().put("TERM", "xterm");
        Process script = builder.start();
        String[] shown = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("plain\r\n");
        assertThat(shown[0]).startsWith("\033[32mOK\033[m    connect          1 server, no chroot\r\n");
        assertThat(shown[1])
                .startsWith("OK    connect          1 server, no chroot\r\n")
                .doesNotContain("\033");
        for (String each : shown) {
            assertThat(each.replaceAll("\033\\[[0-9;]*m", "").lines())
                    .allMatch(line -> line.length() <= 60)
                    .anyMatch(line -> line.matches(" {23}[^ ].*"));
        }
    }

    @Test
    void serverThatIsDown_endsWith69() {
        try (EmbeddedZooKeeper down = EmbeddedZooKeeper.start()) {
            down.stop();
            Ran ran = doctor("--connect", down.connectString());
            assertThat(ran.code()).isEqualTo(69);
            assertThat(failed(ran))
                    .singleElement()
                    .asString()
                    .contains("refuses connections, so nothing listens there: check the port");
        }
    }

    @Test
    void wrongHost_andWhatIsNoZooKeeper_areNamed() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            Thread greeter = new Thread(() -> {
                try {
                    while (true) {
                        try (var accepted = other.accept()) {
                            accepted.getOutputStream().write("220 mail ready\r\n".getBytes(StandardCharsets.US_ASCII));
                        }
                    }
                } catch (IOException e) {
                    // The test is over.
                }
            });
            greeter.start();
            Ran ran = doctor("--connect", "no.such.host.invalid:1,127.0.0.1:" + other.getLocalPort());
            assertThat(ran.code()).isEqualTo(69);
            assertThat(failed(ran).get(0)).contains("the host name of no.such.host.invalid:1 is unknown");
            assertThat(failed(ran).get(1)).contains("is not a ZooKeeper server: it answers \"220 mail ready\"");
        }
    }

    @Test
    void missingChroot_isToBeCreated() {
        Ran ran = doctor("--connect", server.connectString() + "/none/such");
        assertThat(ran.code()).isEqualTo(1);
        assertThat(failed(ran)).singleElement().asString().contains("/none/such does not exist: create it");
        assertThat(server.nodeExists("/none")).isFalse();
    }

    @Test
    void missingRights_areNamed() throws Exception {
        ACL read = new ACL(ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE);
        ACL create = new ACL(ZooDefs.Perms.READ | ZooDefs.Perms.CREATE, ZooDefs.Ids.ANYONE_ID_UNSAFE);
        ZooKeeper zk = new ZooKeeper(server.connectString(), 10_000, event -> {});
        Soon.await().until(() -> zk.getState().isConnected());
        zk.create("/readable", NOTHING, new ArrayList<>(List.of(read)), CreateMode.PERSISTENT);
        zk.create("/creatable", NOTHING, new ArrayList<>(List.of(create)), CreateMode.PERSISTENT);
        ACL others = new ACL(ZooDefs.Perms.ALL, new Id("ip", "192.0.2.1"));
        zk.create("/closed", NOTHING, new ArrayList<>(List.of(others)), CreateMode.PERSISTENT);
        zk.close();
        Ran ran = doctor("--connect", server.connectString(), "/closed/locks");
        assertThat(ran.code()).isEqualTo(1);
        assertThat(failed(ran)).singleElement().asString().contains("could not look at /closed/locks: NOAUTH");
        ran = doctor("--connect", server.connectString(), "/readable/locks");
        assertThat(ran.code()).isEqualTo(1);
        assertThat(failed(ran))
                .singleElement()
                .asString()
                .contains("could not create a node below /readable (CREATE): NOAUTH; give credentials");
        ran = doctor("--connect", server.connectString(), "/creatable");
        assertThat(ran.code()).isEqualTo(1);
        assertThat(failed(ran))
                .singleElement()
                .asString()
                .contains("could not delete /creatable/zklock-doctor-", "NOAUTH");
        ran = doctor("--connect", server.connectString(), "--acl", "ip:192.0.2.1:cdrwa");
        assertThat(ran.code()).isEqualTo(1);
        assertThat(failed(ran).get(0))
                .contains("could not create a node with --acl below one with --acl (CREATE): NOAUTH");
        ran = doctor("--connect", server.connectString(), "--auth", "digest:u:p", "--acl", "creator");
        assertThat(ran.code()).as(ran.out()).isZero();
        assertThat(ran.out()).containsPattern("authenticated as .*digest:u");
    }

    @Test
    void oneOfThreeDown_isNamed_andTheOthersAreAsked() throws IOException {
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
            EnsembleServer down = ensemble.followers().get(0);
            down.kill();
            ensemble.leader();
            Soon.await().until(() -> ensemble.followers().size() == 1);
            List<String> ports = new ArrayList<>();
            for (EnsembleServer each : ensemble.servers()) {
                ports.add(ownPort(each));
            }
            Ran ran = doctor("--connect", String.join(",", ports));
            assertThat(ran.code()).as(ran.out()).isEqualTo(1);
            assertThat(failed(ran))
                    .singleElement()
                    .asString()
                    .contains(ownPort(down), "refuses connections, so nothing listens there: check the port");
            assertThat(ran.out()).contains(", leader 3.", ", follower 3.", "rights ", "cost ");
            assertThat(doctor("--connect", ensemble.leader().connectString(), "--session-timeout=60")
                            .out())
                    .contains("time-out 30.0 s where 60.0 s was requested");
        }
    }

    /** Where the server itself listens, not the wire in front of it, which accepts connections of a dead server, too. */
    private static String ownPort(EnsembleServer server) throws IOException {
        return Files.readAllLines(server.dataDirectory().resolve("zoo.cfg")).stream()
                .filter(line -> line.startsWith("clientPort="))
                .map(line -> line.replace("clientPort=", "127.0.0.1:"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void allowedWords_tellTheLimits() throws Exception {
        try (RunningZkLock other =
                RunningZkLock.jar(folder, "-Dzookeeper.4lw.commands.whitelist=conf", "server", "--port=0")) {
            other.awaitLine("127.0.0.1:");
            Ran ran = doctor("--connect", other.lines().get(0));
            assertThat(ran.code()).as(ran.out()).isZero();
            assertThat(ran.lines().get(1)).containsPattern("session time-outs \\d+ to \\d+ ms, maxClientCnxns \\d+");
        }
    }

    @Test
    void requiredCredentials_areAskedFor() throws Exception {
        Path options = Files.writeString(
                folder.resolve("options"),
                "-Dzookeeper.enforce.auth.enabled=true\n-Dzookeeper.enforce.auth.schemes=digest\n");
        try (RunningZkLock strict = RunningZkLock.jar(folder, "@" + options, "server", "--port=0")) {
            strict.awaitLine("127.0.0.1:");
            Ran ran = doctor("--connect", strict.lines().get(0));
            assertThat(ran.code()).as(ran.out()).isEqualTo(69);
            assertThat(failed(ran)).singleElement().asString().contains("refuses the credentials, or requires some");
            ran = doctor("--connect", strict.lines().get(0), "--auth", "digest:u:p");
            assertThat(ran.code()).as(ran.out()).isZero();
        }
    }

    @Test
    @Tag("H144")
    void readOnlyServer_isNamed() throws Exception {
        Path data = Files.createDirectory(folder.resolve("data"));
        Files.writeString(data.resolve("myid"), "1");
        Ran ran = askReadOnlyServer(data);
        for (int again = 0; again < 4 && !ran.out().contains("read-only"); again++) {
            ran = askReadOnlyServer(data); // somebody else had taken a port before the server did
        }
        assertThat(ran.code()).as(ran.out()).isEqualTo(69);
        assertThat(failed(ran)).singleElement().asString().contains("is read-only: it has lost its ensemble");
    }

    /** What doctor says of one of three servers as soon as it answers, or at last. */
    private Ran askReadOnlyServer(Path data) throws IOException, InterruptedException {
        int port = freePort();
        List<String> lines = new ArrayList<>(List.of(
                "tickTime=200",
                "initLimit=10",
                "syncLimit=10",
                "dataDir=" + data,
                "clientPort=" + port,
                "clientPortAddress=127.0.0.1",
                "admin.enableServer=false"));
        for (int i = 1; i <= 3; i++) {
            lines.add("server." + i + "=127.0.0.1:" + freePort() + ":" + freePort());
        }
        Path config = Files.write(folder.resolve("zoo.cfg"), lines);
        Process alone = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dreadonlymode.enabled=true",
                        "-cp",
                        "target/zklock.jar",
                        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                        config.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            AtomicReference<Ran> said = new AtomicReference<>(doctor("--connect", "127.0.0.1:" + port));
            try {
                Soon.await().atMost(Duration.ofSeconds(30)).until(() -> {
                    said.set(doctor("--connect", "127.0.0.1:" + port));
                    return said.get().out().contains("read-only");
                });
            } catch (ConditionTimeoutException e) {
                // what it said last is looked at
            }
            return said.get();
        } finally {
            alone.destroyForcibly().waitFor();
        }
    }

    /** Before 3.7 a server cuts the connection on which it is asked for the identity. */
    @Test
    @Tag("H141")
    void serverThatDoesNotKnowTheIdentity_isWell() throws IOException {
        try (ServerSocket old = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            int port = Integer.parseInt(server.connectString().replaceFirst(".*:", ""));
            Thread relay = new Thread(() -> relayAsOld(old, port), "old-server");
            relay.start();
            Ran ran = doctor("--connect", "127.0.0.1:" + old.getLocalPort());
            assertThat(ran.code()).as(ran.out()).isZero();
            assertThat(ran.out()).contains("rights ", "identity         unknown, as the server is older than 3.7");
        }
    }

    private static void relayAsOld(ServerSocket old, int port) {
        while (!old.isClosed()) {
            try {
                Socket client = old.accept();
                Socket real = new Socket(InetAddress.getLoopbackAddress(), port);
                new Thread(() -> pass(client, real), "requests").start();
                new Thread(() -> pass(real, client), "answers").start();
            } catch (IOException e) {
                // The test is over.
            }
        }
    }

    /** Passes bytes on, up to a request of the type whoAmI: its length, its number, its type. */
    private static void pass(Socket from, Socket to) {
        try (from;
                to) {
            byte[] bytes = new byte[1 << 16];
            int length;
            while ((length = from.getInputStream().read(bytes)) > 0 && !(length == 12 && bytes[11] == 107)) {
                to.getOutputStream().write(bytes, 0, length);
            }
        } catch (IOException e) {
            // One of them has gone.
        }
    }

    @Test
    @Tag("H140")
    void eachAddressOfAName_hasALine() throws Exception {
        Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.2 zk.example\n127.0.0.1 zk.example\n");
        String name = "zk.example:" + server.connectString().replaceFirst(".*:", "");
        Ran ran = doctorWithHosts(hosts, name);
        for (int again = 0; again < 9 && isTooBusy(ran.out()); again++) {
            ran = doctorWithHosts(hosts, name);
        }
        assertThat(ran.code()).as(ran.out()).isEqualTo(1);
        assertThat(ran.out()).contains("connect          1 server");
        assertThat(ran.out()).contains("FAIL  " + name + " (127.0.0.2) refuses connections");
        assertThat(ran.out()).contains("OK    " + name + " (127.0.0.1) 127.0.0.1, standalone 3.", "rights ");
        String down = "zk.example:" + freePort();
        Map<String, String> options = Map.of("ZKLOCK_JAVA_OPTIONS", "-Djdk.net.hosts.file=" + hosts);
        List<String> told = List.of(down + " (127.0.0.2) refuses", down + " (127.0.0.1) refuses");
        RunningZkLock.assertRunFailsInTime(folder, options, 69, told, "--connect", down, "/locks", "--", "true");
    }

    private Ran doctorWithHosts(Path hosts, String servers) throws IOException, InterruptedException {
        try (RunningZkLock doctor =
                RunningZkLock.jar(folder, "-Djdk.net.hosts.file=" + hosts, "doctor", "--connect", servers)) {
            int code = doctor.awaitExit();
            return new Ran(code, doctor.out(), doctor.err());
        }
    }

    @Test
    @Tag("H139")
    void loginThatFails_isNamed_andEndsWith77() throws Exception {
        Path keytab = folder.resolve("none.keytab");
        Path jaas = Files.writeString(
                folder.resolve("jaas"),
                "Client { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true doNotPrompt=true"
                        + " keyTab=\"" + keytab + "\" principal=\"orders@EXAMPLE.COM\"; };");
        Path krb5 = Files.writeString(
                folder.resolve("krb5.conf"),
                "[libdefaults]\ndefault_realm = EXAMPLE.COM\n[realms]\nEXAMPLE.COM = {\n kdc = 127.0.0.1:1\n}\n");
        Path config = Files.writeString(
                folder.resolve("sasl.properties"),
                "java.security.auth.login.config=" + jaas + "\njava.security.krb5.conf=" + krb5 + "\nzookeeper.connect="
                        + server.connectString() + "\n");
        assertLoginFails(config, "the keytab " + keytab + " does not exist or cannot be read");
        Files.writeString(config, "zookeeper.sasl.clientconfig=Orders\n", StandardOpenOption.APPEND);
        assertLoginFails(config, "has no section 'Orders'");
        List<String> told = List.of("has no section 'Orders'", "zookeeper.sasl.client=false");
        RunningZkLock.assertRunFailsInTime(
                folder, Map.of(), 77, told, "--config=" + config, "/locks/mine", "--", "true");
        assertThat(server.children("/")).doesNotContain("locks");
    }

    private void assertLoginFails(Path config, String cause) throws Exception {
        try (RunningZkLock doctor =
                RunningZkLock.jar(folder, "-Xshare:auto", "doctor", "--config", config.toString())) {
            assertThat(doctor.awaitExit()).as(doctor.out()).isEqualTo(77);
            assertThat(doctor.out()).contains("FAIL  login            the SASL login failed: ", cause);
        }
    }

    @Test
    @Tag("H139")
    void credentialsThatEverybodyMayRead_areAWarning() throws Exception {
        Path file = Files.writeString(folder.resolve("people"), "digest:u:p\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Ran ran = doctorWithWarnings("--connect", server.connectString(), "--auth-file", file.toString());
        assertThat(ran.code()).isZero();
        assertThat(ran.err()).contains("warning: everybody on this machine can read the credentials in " + file);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        doctor("--connect", server.connectString(), "--auth-file", file.toString());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}

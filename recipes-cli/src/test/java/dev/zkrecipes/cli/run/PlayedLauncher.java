// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Suppliers;
import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.Soon;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine;

/**
 * A test that plays the launcher to a keeper in its own JVM: {@code zklock run}, {@code lead} or {@code hold} without a
 * process, a JVM and a command of its own.
 */
final class PlayedLauncher implements AutoCloseable {
    private static final Supplier<Boolean> HAS_CONNECTED = Suppliers.memoize(PlayedLauncher::connectOnce);

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final Semaphore errMoves = new Semaphore(1);
    private final StringWriter err = new StringWriter() {
        @Override
        public void write(String text, int offset, int length) {
            errMoves.acquireUninterruptibly();
            super.write(text, offset, length);
            errMoves.release();
        }
    };
    private final PrintStream to;
    private final CompletableFuture<Integer> code = new CompletableFuture<>();
    private int read; // how many lines of the keeper a test has waited for

    private PlayedLauncher(Path file, Map<String, String> environment, String[] line) throws IOException {
        assertThat(HAS_CONNECTED.get()).isTrue();
        PipedInputStream in = new PipedInputStream(1 << 16);
        to = new PrintStream(new PipedOutputStream(in), true, UTF_8);
        Launcher launcher = new Launcher(file.toString(), in, new PrintStream(out, true, UTF_8));
        LockingOptions options = new LockingOptions(new ConnectOptions(environment), launcher);
        Object command = switch (line[0]) {
            case "run" -> new RunCommand(options);
            case "lead" -> new LeadCommand(options);
            default -> new HoldCommand(options);
        };
        String[] words = Arrays.copyOfRange(line, 1, line.length);
        CommandLine commandLine = Ran.commandLine(command).setErr(new PrintWriter(err, true));
        Thread keeper = new Thread(() -> code.complete(commandLine.execute(words)), "keeper");
        keeper.setDaemon(true);
        keeper.start();
    }

    /**
     * On a busy machine, the first client of a JVM loads classes for longer than a keeper waits for a server. So that
     * client is not a keeper's.
     */
    private static boolean connectOnce() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                ZooKeeperClient client = TestClients.connect(server.connectString())) {
            return client.zooKeeper().isPresent();
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted while a first client connects", e);
        }
    }

    /** Starts a keeper, by a command line of {@code zklock}. */
    static PlayedLauncher start(EmbeddedZooKeeper server, String... line) throws IOException {
        return start(Map.of("ZKLOCK_CONNECT", server.connectString()), line);
    }

    static PlayedLauncher start(Map<String, String> environment, String... line) throws IOException {
        return new PlayedLauncher(RunningZkLock.LAUNCHER, environment, line);
    }

    /** With a program of its own that ends a target. */
    static PlayedLauncher startBy(Path file, EmbeddedZooKeeper server, String... line) throws IOException {
        return new PlayedLauncher(file, Map.of("ZKLOCK_CONNECT", server.connectString()), line);
    }

    /** Asks for the lock, and says that a command has ended with 0 as soon as it is granted. */
    static Ran run(Map<String, String> environment, String... line) throws IOException {
        try (PlayedLauncher launcher = start(environment, line)) {
            launcher.to.println("go");
            Soon.await()
                    .atMost(RunningZkLock.LIMIT)
                    .until(() -> launcher.code.isDone()
                            || launcher.out.toString(UTF_8).contains("+granted "));
            if (launcher.out.toString(UTF_8).contains("+granted ")) {
                launcher.to.println("target group 0 0 0");
                launcher.to.println("over 0");
            }
            int code = launcher.awaitCode();
            return new Ran(code, launcher.out.toString(UTF_8), launcher.err());
        }
    }

    static Ran run(EmbeddedZooKeeper server, String... line) throws IOException {
        return run(Map.of("ZKLOCK_CONNECT", server.connectString()), line);
    }

    /** Says that the lock may be requested. */
    PlayedLauncher go() {
        await("+command ");
        say("go");
        return this;
    }

    /** Asks for the lock, waits for it, and names what a loss ends. */
    PlayedLauncher take(String target) {
        go();
        await("+granted ");
        say("target " + target);
        await("+watched");
        return this;
    }

    void say(String line) {
        to.println(line);
    }

    /** Waits for the next line of the keeper that is not about the environment, and returns it. */
    String await(String begin) {
        Soon.await().atMost(RunningZkLock.LIMIT).until(() -> heard().size() > read || code.isDone());
        assertThat(heard()).as("%s; err: %s", code, err).hasSizeGreaterThan(read);
        String line = heard().get(read++);
        assertThat(line).as("%s; err: %s", heard(), err).startsWith(begin);
        return line;
    }

    /** The keeper's lines, but for those about the environment. */
    List<String> heard() {
        String text = out.toString(UTF_8);
        return text.substring(0, text.lastIndexOf('\n') + 1)
                .lines()
                .filter(line -> !line.startsWith("+env "))
                .toList();
    }

    /** What the command gets, by name. */
    Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>();
        out.toString(UTF_8)
                .lines()
                .filter(line -> line.startsWith("+env "))
                .map(line -> line.substring("+env ".length()).split("=", 2))
                .forEach(each -> environment.put(each[0], each[1]));
        return environment;
    }

    String err() {
        return err.toString();
    }

    /** From now on, the keeper waits when it writes to standard error. */
    void haltErr() {
        errMoves.acquireUninterruptibly();
    }

    void continueErr() {
        errMoves.release();
    }

    void awaitErr(String part) {
        Soon.await().atMost(RunningZkLock.LIMIT).until(() -> err().contains(part));
    }

    boolean isAlive() {
        return !code.isDone();
    }

    int awaitCode() {
        assertThat(code).as(() -> "err: " + err).succeedsWithin(RunningZkLock.LIMIT.toSeconds(), TimeUnit.SECONDS);
        return code.join();
    }

    /** Takes the lock that was granted, and gives it back. */
    void giveBack() {
        say("target group 0 0 0");
        await("+watched");
        say("over 0");
        awaitCode();
    }

    /** As if the launcher were killed. */
    void die() {
        to.close();
    }

    @Override
    public void close() {
        to.close();
    }
}

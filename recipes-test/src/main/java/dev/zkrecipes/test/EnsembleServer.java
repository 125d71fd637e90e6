// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.EnsembleProcess;
import dev.zkrecipes.test.internal.FrozenJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One server of a {@link ZooKeeperEnsemble}: a process that can be killed, and network links that can be cut.
 *
 * <p>A cut is silent: connections stay open, nothing is refused, and what was in flight arrives after
 * {@link #heal()}.
 *
 * <p>Instances are thread-safe.
 */
public final class EnsembleServer {
    private static final List<String> OPTIONS = List.of(
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper=off");

    private static final Pattern MODE = Pattern.compile("^Mode: (leader|follower)$", Pattern.MULTILINE);
    private static final int ANSWER_MILLIS = 2_000;

    private final int number;
    private final Path directory;
    private final ChildJvms processes;
    final LoopbackPort clientPort = LoopbackPort.reserve();
    final LoopbackPort quorumPort = LoopbackPort.reserve();
    final LoopbackPort electionPort = LoopbackPort.reserve();
    private final FaultProxy clients = FaultProxy.wire(clientPort.number());
    /**
     * For each other server, the gate through which this server connects to the other one if that is its leader. All
     * gates exist before any server starts.
     */
    private final Map<EnsembleServer, FaultProxy> gates = new HashMap<>();

    @GuardedBy("this")
    private @Nullable Process process;

    EnsembleServer(int number, Path directory, ChildJvms processes) throws IOException {
        this.number = number;
        this.directory = directory;
        this.processes = processes;
    }

    /**
     * Writes the configuration of this server. It reaches the quorum port of each other server through a gate of this
     * class.
     */
    void configure(List<String> settings, List<EnsembleServer> all) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("myid"), number + "\n");
        List<String> lines = new ArrayList<>(settings);
        lines.add("dataDir=" + directory.toString().replace('\\', '/'));
        lines.add("clientPortAddress=127.0.0.1");
        lines.add("clientPort=" + clientPort.number());
        for (EnsembleServer other : all) {
            int quorum = other.quorumPort.number();
            if (other != this) {
                FaultProxy gate = FaultProxy.wire(quorum);
                gates.put(other, gate);
                quorum = gate.port();
            }
            lines.add("server." + other.number + "=127.0.0.1:" + quorum + ":" + other.electionPort.number());
        }
        Files.write(configuration(), lines);
    }

    private Path configuration() {
        return directory.resolve("zoo.cfg");
    }

    /**
     * {@return 1, 2 or 3} Among the servers with the latest data, the one with the greatest number wins an election.
     */
    public int number() {
        return number;
    }

    /**
     * {@return the connect string of this server, which stays the same after a restart} Cuts from clients apply to
     * it.
     */
    public String connectString() {
        return "127.0.0.1:" + clients.port();
    }

    /** {@return the directory of the server's data} It may be read or changed while the server does not run. */
    public Path dataDirectory() {
        return directory;
    }

    /**
     * {@return the role that the server reports, over a separate connection that no cut affects} The reported role may
     * be out of date.
     */
    public ServerRole role() {
        Matcher mode = MODE.matcher(isRunning() ? status() : "");
        return mode.find() ? ServerRole.valueOf(mode.group(1).toUpperCase(Locale.ROOT)) : ServerRole.NONE;
    }

    /**
     * Returns the answer to the command {@code srvr}; empty if there is none. ZooKeeper's own tool for this would log
     * each call.
     */
    String status() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(LoopbackPort.loopback(), clientPort.number()), ANSWER_MILLIS);
            socket.setSoTimeout(ANSWER_MILLIS);
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return "";
        }
    }

    /** {@return whether the process of this server is alive} */
    public synchronized boolean isRunning() {
        return process != null && process.isAlive();
    }

    /**
     * Kills the process, as {@code kill -9} does, and returns when it has ended. Does nothing if there is no process.
     */
    public synchronized void kill() {
        if (process == null) {
            return;
        }
        process.destroyForcibly().onExit().join();
        process = null;
        try {
            for (LoopbackPort port : ports()) {
                port.hold();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot keep a port of " + this, e);
        }
    }

    /**
     * Starts a new process with the same ports and data, and does not wait until it serves. Kills the old process
     * first, if there is one.
     */
    public synchronized void restart() {
        kill();
        try {
            for (LoopbackPort port : ports()) {
                port.lend();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot lend the ports of " + this, e);
        }
        process =
                processes.start(OPTIONS, EnsembleProcess.class, configuration().toString());
    }

    private List<LoopbackPort> ports() {
        return List.of(clientPort, quorumPort, electionPort);
    }

    /** Cuts this server off from all clients until {@link #heal()}. */
    public void cutFromClients() {
        clients.pause();
    }

    /**
     * Cuts this server off from another server that leads it, or that it leads, until {@link #heal()} of either. A
     * follower continues to answer reads of its clients until it has heard nothing for
     * {@link ZooKeeperEnsemble#SYNC_LIMIT}. Election messages are not cut, so this server may learn from the third one
     * that the leader still leads.
     *
     * @param other another server of the ensemble
     */
    public void cutFrom(EnsembleServer other) {
        gateTo(other).pause();
        other.gateTo(this).pause();
    }

    /**
     * Makes this server lose its leader at once, while the leader does not notice and continues to lead for
     * {@link ZooKeeperEnsemble#SYNC_LIMIT}. The two servers are cut off from each other until {@link #heal()} of
     * either.
     *
     * @param leader another server of the ensemble, which leads this one
     */
    public void abandon(EnsembleServer leader) {
        leader.gateTo(this).pause();
        gateTo(leader).hangUp();
    }

    /**
     * Freezes the process, as a long garbage collection does. Its connections stay open.
     *
     * @return the frozen process; close it to let the server continue
     * @throws IllegalStateException if there is no process
     */
    public synchronized FrozenJvm freeze() {
        if (process == null) {
            throw new IllegalStateException(this + " does not run");
        }
        return FrozenJvm.freeze(process);
    }

    private FaultProxy gateTo(EnsembleServer other) {
        FaultProxy gate = gates.get(other);
        if (gate == null) {
            throw new IllegalArgumentException(other + " is not another server of this ensemble");
        }
        return gate;
    }

    /** Ends all cuts of this server, including those from other servers. */
    public void heal() {
        clients.resume();
        gates.keySet().forEach(other -> {
            gateTo(other).resume();
            other.gateTo(this).resume();
        });
    }

    void close() throws IOException {
        kill();
        clients.close();
        gates.values().forEach(FaultProxy::close);
        for (LoopbackPort port : ports()) {
            port.close();
        }
    }

    @Override
    public String toString() {
        return "server " + number + " of an ensemble, " + connectString();
    }
}

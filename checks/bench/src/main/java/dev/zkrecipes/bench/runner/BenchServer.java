// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.server.PurgeTxnLog;
import org.awaitility.Awaitility;

/** A ZooKeeper server in a JVM of its own, so that its costs are not counted as a client's. */
public interface BenchServer extends Remote {
    /**
     * Returns the connect string for clients.
     *
     * @param roundTripMillis the delay that a proxy in front of the server adds to each round trip; 0 for no proxy at
     *     all
     */
    String connectString(int roundTripMillis) throws RemoteException;

    /** The counts of the server so far. */
    Counts counts() throws RemoteException;

    /**
     * Waits until a path has this many children and, for a tenth of a second, the server has received no request and
     * sent no event.
     */
    void awaitQuiet(String path, int children) throws RemoteException;

    /** Removes old snapshots and logs, so that a long run does not fill the memory. */
    void tidy() throws IOException;

    /**
     * A server's counts since it started.
     *
     * @param requests the requests received, except those that only keep a session alive
     * @param events the events sent to watchers
     */
    record Counts(long requests, long events) implements Serializable {
        /** Returns the counts since an earlier reading. */
        public Counts minus(Counts earlier) {
            return new Counts(requests - earlier.requests, events - earlier.events);
        }
    }

    /** The server, in this JVM, and proxies in front of it that delay messages. */
    final class Embedded implements BenchServer {
        /** How many snapshots to retain: the fewest that ZooKeeper's purge tool allows. */
        private static final int SNAPSHOTS = 3;

        private final Path data;
        private final EmbeddedZooKeeper server;
        private final Map<Integer, FaultProxy> proxies = new HashMap<>();

        Embedded(Path data) {
            this.data = data;
            this.server =
                    EmbeddedZooKeeper.builder().dataDirectory(data).fsync(true).start();
        }

        /** Starts a JVM with a server whose store is empty. */
        public static RemoteJvm<BenchServer> start(Store store) {
            String directory = store.createDirectory().toString();
            return RemoteJvm.start(
                    List.of("-Xms512m", "-Xmx2g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                    () -> new Embedded(Path.of(directory)));
        }

        @Override
        public synchronized String connectString(int roundTripMillis) {
            return roundTripMillis == 0
                    ? server.connectString()
                    : proxies.computeIfAbsent(roundTripMillis, this::openProxy).connectString();
        }

        private FaultProxy openProxy(int roundTripMillis) {
            FaultProxy proxy = FaultProxy.to(server);
            proxy.latency(Duration.ofMillis(roundTripMillis).dividedBy(2));
            return proxy;
        }

        @Override
        public Counts counts() {
            return new Counts(server.requests().total(), server.eventsSent());
        }

        @Override
        public void awaitQuiet(String path, int children) {
            AtomicReference<Counts> before = new AtomicReference<>(counts());
            Awaitility.await(path + " has " + children + " children, and nobody sends anything")
                    .pollInterval(Duration.ofMillis(100))
                    .atMost(Duration.ofMinutes(3))
                    .until(() -> {
                        Counts now = counts();
                        return before.getAndSet(now).equals(now) && children(path) == children;
                    });
        }

        private int children(String path) {
            return server.nodeExists(path) ? server.children(path).size() : 0;
        }

        @Override
        public void tidy() throws IOException {
            PurgeTxnLog.purge(data.toFile(), data.toFile(), SNAPSHOTS);
        }
    }
}

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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.PurgeTxnLog;

/** A ZooKeeper server in a JVM of its own, so that its costs are not counted as a client's. */
public interface BenchServer extends Remote {
    /**
     * Where to connect.
     *
     * @param roundTripMillis the delay to add to each round trip; 0 for no proxy at all
     */
    String connectString(int roundTripMillis) throws RemoteException;

    /** The counts of the server so far. */
    Counts counts() throws RemoteException;

    /**
     * Waits until a path has so many children, those who wait watch what they wait for, and, for a tenth of a second,
     * nobody sent anything.
     *
     * @param watches how many there are at least when all watch, on the list of children and on each child; a watch on
     *     what the session itself made is not counted
     */
    void awaitQuiet(String path, int children, int watches) throws RemoteException, InterruptedException;

    /** Removes old data, so that a long run does not fill the memory. */
    void tidy() throws IOException;

    /**
     * A server's counts since it started.
     *
     * @param requests the requests received, except those that only keep a session alive
     * @param events the events sent to watchers
     */
    record Counts(long requests, long events) implements Serializable {
        /** The difference to an earlier reading. */
        public Counts minus(Counts earlier) {
            return new Counts(requests - earlier.requests, events - earlier.events);
        }
    }

    /** The server itself, and before it proxies that make the way longer. */
    final class Embedded implements BenchServer {
        /** As few as ZooKeeper's own tool keeps. */
        private static final int SNAPSHOTS = 3;

        private final Path data;
        private final EmbeddedZooKeeper server;
        private final Map<Integer, FaultProxy> proxies = new HashMap<>();

        Embedded(Path data) {
            this.data = data;
            this.server =
                    EmbeddedZooKeeper.builder().dataDirectory(data).fsync(true).start();
        }

        /** Starts a server with an empty store. */
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
        public void awaitQuiet(String path, int children, int watches) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
            Counts before = counts();
            boolean quiet = false;
            while (!quiet) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException(path + " has " + children(path) + " children and " + watches(path)
                            + " watches, not " + children + " and " + watches + ", or is still busy, after 3 minutes");
                }
                TimeUnit.MILLISECONDS.sleep(100);
                Counts now = counts();
                quiet = now.equals(before) && children(path) == children && (watches == 0 || watches(path) >= watches);
                before = now;
            }
        }

        private int children(String path) {
            return server.nodeExists(path) ? server.children(path).size() : 0;
        }

        /** Each session is counted for itself. */
        private int watches(String path) {
            return server.childWatchers(path).size()
                    + server.children(path).stream()
                            .mapToInt(child -> watchesOfOthers(path + "/" + child))
                            .sum();
        }

        private int watchesOfOthers(String node) {
            Set<Long> watching = new HashSet<>(server.watchers(node));
            watching.addAll(server.childWatchers(node));
            server.owner(node).ifPresent(watching::remove);
            return watching.size();
        }

        @Override
        public void tidy() throws IOException {
            PurgeTxnLog.purge(data.toFile(), data.toFile(), SNAPSHOTS);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A ZooKeeper server in a JVM of its own, so that its costs are not counted as a client's. Thread-safe. */
public final class ServerProcess implements AutoCloseable {
    private final Path directory;
    private final ChildJvm jvm;
    private final int port;

    @GuardedBy("this")
    private final Map<Integer, String> proxies = new HashMap<>();

    private ServerProcess(Path directory, ChildJvm jvm) {
        this.directory = directory;
        this.jvm = jvm;
        this.port = Integer.parseInt(jvm.answer());
    }

    /** Starts a server with an empty store. */
    public static ServerProcess start(Store store) {
        Path directory = store.createDirectory();
        ChildJvm jvm = ChildJvm.start(List.of("-Xms512m", "-Xmx2g"), BenchServer.class, directory.toString());
        try {
            return new ServerProcess(directory, jvm);
        } catch (RuntimeException e) {
            jvm.close();
            Store.remove(directory);
            throw e;
        }
    }

    /**
     * Where to connect.
     *
     * @param roundTripMillis the delay to add to each round trip; 0 for no proxy at all
     */
    public synchronized String connectString(int roundTripMillis) {
        return roundTripMillis == 0
                ? "127.0.0.1:" + port
                : proxies.computeIfAbsent(
                        roundTripMillis,
                        millis -> "127.0.0.1:" + ask("proxy " + TimeUnit.MILLISECONDS.toNanos(millis) / 2));
    }

    /** The counts of the server so far. */
    public Counts counts() {
        String[] counts = ask("counts").split(" ", 2);
        return new Counts(Long.parseLong(counts[0]), Long.parseLong(counts[1]));
    }

    /** How many children a node has; 0 if there is no node. */
    public int children(String path) {
        return Integer.parseInt(ask("children " + path));
    }

    /** Where its data are. */
    Path directory() {
        return directory;
    }

    /** Removes the old logs of the server. */
    public void tidy() {
        ask("tidy");
    }

    /**
     * How many watches there are of others than the owner, on a path's list of children and on each child, each session
     * counted for itself.
     */
    private int watches(String path) {
        return Integer.parseInt(ask("watches " + path));
    }

    /**
     * Waits until so many children are there, those who wait watch what they wait for, and, for a tenth of a second,
     * nobody sent anything.
     *
     * @param watches how many there are at least when all watch; a watch on what the session itself made is not counted
     */
    public void awaitQuiet(String path, int children, int watches) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
        Counts before = counts();
        boolean quiet = false;
        while (!quiet) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException(path + " has " + children(path) + " children and " + watches(path)
                        + " watches, not " + children + " and " + watches + ", or is still busy, after three minutes");
            }
            TimeUnit.MILLISECONDS.sleep(100);
            Counts now = counts();
            quiet = now.equals(before) && children(path) == children && (watches == 0 || watches(path) >= watches);
            before = now;
        }
    }

    private String ask(String question) {
        return jvm.ask(question);
    }

    /** Ends the process and removes its data. */
    @Override
    public void close() {
        jvm.close();
        Store.remove(directory);
    }
}

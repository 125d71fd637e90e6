// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import dev.zkrecipes.it.ensemble.Write.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The counters, as an application would keep them: with a separate session, which outlives that of the locks, so that
 * only the guard protects the data from a late write. Each increment leaves an entry in the counter's
 * history, by the same transaction, so that it can be seen later which ones were applied, and in which order.
 */
final class Store implements AutoCloseable {
    private static final int SESSION_MILLIS = 30_000;
    private static final int READS = 10;
    private static final String COUNTERS = "/counters";

    private final String connectString;
    private ZooKeeper handle;

    /**
     * One increment that was applied.
     *
     * @param id who wrote it
     * @param value what the counter was then
     * @param token under which lease
     * @param czxid its place in the server's order
     */
    record Entry(String id, long value, long token, long czxid) {}

    Store(String connectString) throws IOException {
        this.connectString = connectString;
        this.handle = open();
    }

    private ZooKeeper open() throws IOException {
        return new ZooKeeper(connectString, SESSION_MILLIS, event -> {});
    }

    private static String counter(String name) {
        return COUNTERS + "/" + name;
    }

    /** Makes counters that are at 0. */
    void prepare(List<String> names) throws KeeperException, InterruptedException {
        create(COUNTERS, "");
        for (String name : names) {
            create(counter(name), "0");
        }
    }

    private void create(String path, String data) throws KeeperException, InterruptedException {
        handle.create(path, bytes(data), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** Adds one to each of the counters if the guards stand. */
    Outcome increment(List<String> names, List<Op> guards, String id, long token)
            throws IOException, InterruptedException {
        try {
            for (int read = 0; read < READS; read++) {
                try {
                    handle.multi(increments(names, guards, id, token));
                    return Outcome.DONE;
                } catch (KeeperException.BadVersionException e) {
                    // The guard holds, so no one else writes: the read came from a follower that was behind.
                    catchUp();
                }
            }
            throw new IllegalStateException(
                    "somebody else writes to " + names + " while the guard of " + id + " stands");
        } catch (KeeperException.NoNodeException e) {
            return Outcome.REFUSED;
        } catch (KeeperException.ConnectionLossException | KeeperException.OperationTimeoutException e) {
            return Outcome.UNKNOWN;
        } catch (KeeperException.SessionExpiredException e) {
            handle = open();
            return Outcome.UNKNOWN;
        } catch (KeeperException e) {
            throw new IllegalStateException("the store failed on " + names, e);
        }
    }

    private List<Op> increments(List<String> names, List<Op> guards, String id, long token)
            throws KeeperException, InterruptedException {
        List<Op> ops = new ArrayList<>(guards);
        for (String name : names) {
            Stat stat = new Stat();
            long next = Long.parseLong(text(handle.getData(counter(name), false, stat))) + 1;
            ops.add(Op.setData(counter(name), bytes(String.valueOf(next)), stat.getVersion()));
            ops.add(Op.create(
                    counter(name) + "/" + id,
                    bytes(next + " " + token),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT));
        }
        return ops;
    }

    long value(String name) throws KeeperException, InterruptedException {
        return Long.parseLong(text(handle.getData(counter(name), false, null)));
    }

    /** All increments, in the server's order. */
    List<Entry> history(String name) throws KeeperException, InterruptedException {
        List<Entry> entries = new ArrayList<>();
        for (String id : handle.getChildren(counter(name), false)) {
            Stat stat = new Stat();
            String[] words =
                    text(handle.getData(counter(name) + "/" + id, false, stat)).split(" ", -1);
            entries.add(new Entry(id, Long.parseLong(words[0]), Long.parseLong(words[1]), stat.getCzxid()));
        }
        entries.sort(Comparator.comparingLong(Entry::czxid));
        return entries;
    }

    /** The nodes below a lock path. */
    List<String> nodesBelow(String path) throws KeeperException, InterruptedException {
        return handle.getChildren(path, false);
    }

    /** From now on reads show what was written before this, which {@code sync} does not promise. */
    void catchUp() throws KeeperException, InterruptedException {
        handle.setData(COUNTERS, new byte[0], -1);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws InterruptedException {
        handle.close();
    }
}

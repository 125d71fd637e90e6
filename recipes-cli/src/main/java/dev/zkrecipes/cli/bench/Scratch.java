// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;

/**
 * A path that nobody else uses, and the nodes above it that did not exist before. Locks create it; it is removed at the
 * end.
 */
final class Scratch {
    private static final int RANDOM_BYTES = 4;
    private static final int DELETES_AT_ONCE = 100;

    private final String path;
    /** Nodes above {@link #path} that did not exist, lowest first. */
    private final List<String> missing;

    private Scratch(String path, List<String> missing) {
        this.path = path;
        this.missing = missing;
    }

    /** Picks a name below {@code parent} and looks which nodes exist. Writes nothing. */
    static Scratch below(String parent, ZooKeeperClient client) throws InterruptedException, KeeperException {
        ZooKeeper zooKeeper = handle(client);
        byte[] random = new byte[RANDOM_BYTES];
        new SecureRandom().nextBytes(random);
        List<String> missing = new ArrayList<>();
        for (String each = parent; each.length() > 1 && zooKeeper.exists(each, false) == null; each = above(each)) {
            missing.add(each);
        }
        String name = "zklock-bench-" + HexFormat.of().formatHex(random);
        return new Scratch((parent.equals("/") ? "" : parent) + "/" + name, missing);
    }

    /** The handle of a client that has just connected. */
    static ZooKeeper handle(ZooKeeperClient client) {
        return client.zooKeeper().orElseThrow(() -> new LockConnectionException("the session is over: measure again"));
    }

    private static String above(String path) {
        int slash = path.lastIndexOf('/');
        return slash > 0 ? path.substring(0, slash) : "/";
    }

    String path() {
        return path;
    }

    /** The path of one lock. */
    String of(String name) {
        return path + "/" + name;
    }

    /**
     * Removes all of it, in a new session if the old one has expired.
     *
     * @throws LockConnectionException if that was not possible in time
     */
    void remove(ZooKeeperClient client, Duration limit) throws InterruptedException, KeeperException {
        long begin = System.nanoTime();
        Duration left = limit;
        while (left.compareTo(Duration.ZERO) > 0 && client.awaitConnected(left)) {
            Optional<ZooKeeper> handle = client.zooKeeper();
            if (handle.isPresent() && isRemoved(handle.get())) {
                return;
            }
            left = limit.minusNanos(System.nanoTime() - begin);
        }
        throw new LockConnectionException("no answer within " + limit.toSeconds() + " s");
    }

    private boolean isRemoved(ZooKeeper zooKeeper) throws InterruptedException, KeeperException {
        try {
            if (zooKeeper.exists(path, false) != null && !ZKUtil.deleteRecursive(zooKeeper, path, DELETES_AT_ONCE)) {
                return false;
            }
        } catch (KeeperException.NoNodeException
                | KeeperException.ConnectionLossException
                | KeeperException.SessionExpiredException
                | KeeperException.RequestTimeoutException e) {
            return false;
        }
        removeParents(zooKeeper);
        return true;
    }

    /**
     * Removes the nodes that did not exist before, unless somebody else uses them now. They are containers, so
     * ZooKeeper removes what is left.
     */
    private void removeParents(ZooKeeper zooKeeper) throws InterruptedException {
        try {
            for (String each : missing) {
                zooKeeper.delete(each, -1);
            }
        } catch (KeeperException e) {
            // In use by others, or gone, or soon gone.
        }
    }
}

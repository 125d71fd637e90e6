// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.PathView.Place;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Deletes the one node that was seen, even if its data have changed since. A server can compare only the version of the
 * data; the transaction that made the node, which no other node has, is compared just before.
 */
final class Breaking {
    private static final int MOST_FAILURES = 5;

    private final ZooKeeperClient client;
    private final String path;
    private final Optional<Stat> seen;
    private int version = -1;

    /** How it ended. */
    enum Outcome {
        BROKEN,
        /** The node was gone before, or after a deletion whose answer was lost. */
        GONE
    }

    Breaking(ZooKeeperClient client, String lockPath, Place place) {
        this.client = client;
        this.path = (lockPath.equals("/") ? "/" : lockPath + "/") + place.node().name();
        this.seen = place.stat();
    }

    /**
     * Deletes the node.
     *
     * @throws LockConnectionException if no server answered
     * @throws LockAccessException if the credentials do not allow it
     * @throws LockException if ZooKeeper refuses for another reason
     */
    Outcome run() throws InterruptedException {
        for (int failures = 0; failures < MOST_FAILURES; ) {
            try {
                ZooKeeper zk = connected();
                if (!isStillThere(zk)) {
                    return Outcome.GONE;
                }
                zk.delete(path, version);
                return Outcome.BROKEN;
            } catch (KeeperException.NoNodeException e) {
                return Outcome.GONE;
            } catch (KeeperException.BadVersionException e) {
                // It has changed since the look, or is another node by now: the next look tells.
            } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException e) {
                failures++;
            } catch (KeeperException.NoAuthException e) {
                throw new LockAccessException(
                        "no right to delete " + shown()
                                + ": that needs DELETE on the path of the lock; give credentials that have it",
                        e);
            } catch (KeeperException e) {
                throw new LockException("cannot delete " + shown() + ": " + e.code(), e);
            }
        }
        throw new LockConnectionException("the connection was lost again and again while deleting " + shown()
                + ": it may or may not be deleted; see zklock ls");
    }

    /**
     * Whether the node that was seen is still there. If so, remembers its version. Of an unreadable one only the name
     * is known.
     */
    private boolean isStillThere(ZooKeeper zk) throws InterruptedException, KeeperException {
        if (seen.isEmpty()) {
            return true;
        }
        Stat stat = zk.exists(path, false);
        if (stat == null || stat.getCzxid() != seen.get().getCzxid()) {
            return false;
        }
        version = stat.getVersion();
        return true;
    }

    private ZooKeeper connected() throws InterruptedException {
        if (client.awaitConnected(ConnectOptions.CONNECT_LIMIT)) {
            return client.zooKeeper().orElseThrow(this::unreachable);
        }
        throw unreachable();
    }

    private LockConnectionException unreachable() {
        return new LockConnectionException(
                "no server answered while deleting " + shown() + ": it may or may not be deleted; see zklock ls");
    }

    private String shown() {
        return PlainText.of(path);
    }
}

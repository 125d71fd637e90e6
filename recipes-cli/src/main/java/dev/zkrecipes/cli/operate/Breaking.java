// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.time.Duration;
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
    private final Duration connectLimit;
    private final String path;
    private final Place place;
    private int version;

    /** How it ended. */
    enum Outcome {
        BROKEN,
        /** Also if the answer to the deletion was lost and the node was gone afterwards. */
        GONE
    }

    Breaking(ZooKeeperClient client, Duration connectLimit, String lockPath, Place place) {
        this.client = client;
        this.connectLimit = connectLimit;
        this.path = lockPath.equals("/") ? "/" + place.node() : lockPath + "/" + place.node();
        this.place = place;
        this.version = place.origin().version();
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
        if (!place.origin().readable()) {
            return true;
        }
        Stat stat = zk.exists(path, false);
        if (stat == null || stat.getCzxid() != place.origin().czxid()) {
            return false;
        }
        version = stat.getVersion();
        return true;
    }

    private ZooKeeper connected() throws InterruptedException {
        if (client.awaitConnected(connectLimit)) {
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

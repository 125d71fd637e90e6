// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

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
        String shown = PlainText.of(path);
        String doubt = " while deleting " + shown + ": it may or may not be deleted; see zklock ls";
        for (int failures = 0; failures < MOST_FAILURES; ) {
            try {
                ZooKeeper zk = Reads.connected(client, doubt);
                int version = -1; // of an unreadable node only the name is known
                if (seen.isPresent()) {
                    Stat now = zk.exists(path, false);
                    if (now == null || now.getCzxid() != seen.get().getCzxid()) {
                        return Outcome.GONE;
                    }
                    version = now.getVersion();
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
                throw new LockAccessException("no right to delete " + shown
                        + ": that needs DELETE on the path of the lock; give credentials that have it");
            } catch (KeeperException e) {
                throw new LockException("cannot delete " + shown + ": " + e.code(), e);
            }
        }
        throw new LockConnectionException("the connection was lost again and again" + doubt);
    }
}

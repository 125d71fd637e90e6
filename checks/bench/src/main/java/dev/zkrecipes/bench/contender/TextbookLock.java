// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.measure.Cycle;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** The lock of ZooKeeper's documentation in its shortest form: no retries, no loss of a session, no re-entry. */
final class TextbookLock implements Cycle {
    private static final byte[] NO_DATA = {};

    private final ZooKeeper zooKeeper;
    private final String path;
    private String node = "";

    TextbookLock(ZooKeeper zooKeeper, String path) {
        this.zooKeeper = zooKeeper;
        this.path = path;
    }

    @Override
    public void acquire() throws InterruptedException {
        try {
            String made =
                    zooKeeper.create(path + "/lock-", NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
            node = made.substring(path.length() + 1);
            Optional<String> predecessor = predecessor();
            while (predecessor.isPresent()) {
                awaitDeletion(predecessor.get());
                predecessor = predecessor();
            }
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        }
    }

    private Optional<String> predecessor() throws KeeperException, InterruptedException {
        List<String> children = zooKeeper.getChildren(path, false);
        // All names have the same length, so the order of the text is that of the numbers.
        return children.stream().filter(name -> name.compareTo(node) < 0).max(Comparator.naturalOrder());
    }

    private void awaitDeletion(String predecessor) throws KeeperException, InterruptedException {
        CountDownLatch changed = new CountDownLatch(1);
        if (zooKeeper.exists(path + "/" + predecessor, event -> changed.countDown()) != null) {
            changed.await();
        }
    }

    @Override
    public void release() throws InterruptedException {
        try {
            zooKeeper.delete(path + "/" + node, -1);
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        }
    }
}

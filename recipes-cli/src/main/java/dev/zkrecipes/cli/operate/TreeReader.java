// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** A tree that is read through a client, and survives lost connections and sessions. Not thread-safe. */
final class TreeReader {
    private static final int MOST_FAILURES = 4;
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final ZooKeeperClient client;
    private final Duration connectLimit;
    private final boolean watched;
    private final Tree tree;
    private final String root;
    private final Changes changes = new Changes();
    private @Nullable ZooKeeper handle;

    TreeReader(ZooKeeperClient client, Duration connectLimit, String root, boolean deep, boolean watched) {
        this.client = client;
        this.connectLimit = connectLimit;
        this.root = root;
        this.tree = new Tree(root, deep);
        this.watched = watched;
    }

    /**
     * Looks once at one path.
     *
     * @param client what to ask through
     * @param connectLimit how long to wait for a lost connection
     * @throws LockConnectionException if no server answered
     * @throws LockAccessException if the path may not be read
     */
    static LockView look(ZooKeeperClient client, Duration connectLimit, String path) throws InterruptedException {
        return new TreeReader(client, connectLimit, path, false, false).read().lock();
    }

    /**
     * Reads what is new, or everything if the session is new.
     *
     * @throws LockConnectionException if there is no connection within the limit, or it breaks again and again
     * @throws LockAccessException if the path may not be read
     */
    TreeView read() throws InterruptedException {
        for (int failures = 1; ; failures++) {
            Reads reads = new Reads(connected(), watched ? Optional.of(changes) : Optional.empty());
            changes.drainTo(tree::markDirty);
            try {
                tree.refresh(reads);
                return tree.view(Instant.now());
            } catch (BrokenReadException e) {
                if (e.code() == Code.AUTHFAILED || e.code() == Code.SESSIONCLOSEDREQUIRESASLAUTH) {
                    throw new LockAccessException(
                            "ZooKeeper refused the credentials, or requires some that were not given"
                                    + " (sessionRequireClientSASLAuth, or enforce.auth.enabled with enforce.auth.schemes, on the"
                                    + " servers): check --auth-file, --auth, and the SASL settings in --config",
                            e);
                }
                if (failures == MOST_FAILURES) {
                    throw new LockConnectionException(
                            "the connection was lost " + failures + " times while reading "
                                    + PlainText.of(root) + " (" + e.getMessage()
                                    + "): try again; if that does not help, the list is longer than a packet may be: set"
                                    + " JAVA_TOOL_OPTIONS=-Djute.maxbuffer=BYTES, more than 1048575",
                            e);
                }
                changes.await(PAUSE);
            }
        }
    }

    private ZooKeeper connected() throws InterruptedException {
        if (client.awaitConnected(connectLimit)) {
            Optional<ZooKeeper> now = client.zooKeeper();
            if (now.isPresent()) {
                if (handle != now.get()) {
                    handle = now.get();
                    tree.forgetAll();
                }
                return now.get();
            }
        }
        throw new LockConnectionException("no server answered within " + connectLimit.toMillis() / 1e3
                + " s while reading " + PlainText.of(root) + ": its state is unknown; try again");
    }

    /** Waits until something may have changed. */
    void awaitChange() throws InterruptedException {
        changes.await();
    }

    /** Lets {@link #awaitChange} return. Thread-safe. */
    void wake() {
        changes.wake();
    }
}

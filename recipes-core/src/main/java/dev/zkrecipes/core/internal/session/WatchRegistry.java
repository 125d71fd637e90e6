// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import org.apache.zookeeper.data.Stat;

/**
 * The watches of one session. There are two kinds, which do not disturb each other on the same node: one reports each
 * read of the node, and that it is gone; the other reports only that it is gone. A node has one watch of each kind,
 * however many subscribe.
 */
public final class WatchRegistry {

    /** Hears of the node's data and of its end. */
    public interface Subscriber extends WatchSubscriber {
        /**
         * The node was read and is there. Called after each read, and immediately for a subscriber joining an existing
         * watch.
         */
        void onRead(String path, Content content);
    }

    /** Hears only of the deletion. */
    public interface DeletionSubscriber extends WatchSubscriber {
        /**
         * The server watches the node: from now on its deletion is reported. Called each time the watch is set, and
         * immediately for a subscriber joining an existing watch.
         */
        void onWatched(String path);
    }

    private final NodeWatches<Content, Subscriber> content;
    private final NodeWatches<String, DeletionSubscriber> deletions;

    WatchRegistry(SessionLink session) {
        this.content = new NodeWatches<>(
                session,
                (path, watch, reply) -> session.zk().readAndWatch(path, watch, reply),
                (subscriber, path, read) -> subscriber.onRead(path, read));
        this.deletions = new NodeWatches<>(
                session,
                (path, watch, reply) -> session.zk().watchDeletion(path, watch, reply),
                (subscriber, path, same) -> subscriber.onWatched(path));
    }

    /**
     * Tells {@code subscriber} what the node holds each time it is read, and once when it is gone. If it is subscribed
     * already, it is only told again what was read last.
     */
    public void subscribe(String path, Subscriber subscriber) {
        content.subscribe(path, subscriber);
    }

    public void unsubscribe(String path, Subscriber subscriber) {
        content.unsubscribe(path, subscriber);
    }

    /**
     * The same, but a watch without subscribers is dropped only a while later: on a path that each new waiter watches,
     * dropping it each time would cost more than it saves.
     */
    public void unsubscribeLater(String path, Subscriber subscriber) {
        content.unsubscribeLater(path, subscriber);
    }

    /** Tells {@code subscriber} each time the watch is set, and once when the node is gone or was never there. */
    public void subscribeToDeletion(String path, DeletionSubscriber subscriber) {
        deletions.subscribe(path, subscriber);
    }

    public void unsubscribeFromDeletion(String path, DeletionSubscriber subscriber) {
        deletions.unsubscribe(path, subscriber);
    }

    /** Whether the server watches the node for subscribers to its deletion. */
    public boolean tellsDeletionOf(String path) {
        return deletions.isSet(path);
    }

    /** Whether the server watches the node for subscribers to its data, and it is not being read again. */
    public boolean tellsContentOf(String path) {
        return content.isSet(path);
    }

    /** The server has said that the node is gone. The event of that came before, unless the server told nobody. */
    public void onKnownGone(String path) {
        deletions.onKnownGone(path);
    }

    /**
     * The node was read without its watch: if that shows a change of which no event came, it is read and watched again.
     */
    public void onSeen(String path, Stat stat) {
        content.setAgainIf(
                path,
                known -> known.stat().getVersion() != stat.getVersion()
                        || known.stat().getCzxid() != stat.getCzxid());
    }

    /** Sets again what was lost with the connection. */
    public void onConnected() {
        content.onConnected();
        deletions.onConnected();
    }

    public boolean isEmpty() {
        return content.isEmpty() && deletions.isEmpty();
    }
}

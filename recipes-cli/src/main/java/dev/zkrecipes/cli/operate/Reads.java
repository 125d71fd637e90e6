// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.StatCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Many reads at a time in one session. A window limits how many are under way: a server turns a client away that has a
 * thousand requests open.
 */
final class Reads {
    private static final int WINDOW = 400;

    private final ZooKeeper zk;
    private final @Nullable Watcher watcher;

    /**
     * A list of children.
     *
     * @param names in the order of the server
     * @param stat of the parent
     */
    record Children(List<String> names, Stat stat) {}

    /**
     * The answers to reads of some paths.
     *
     * @param byPath a reply for each
     */
    record Replies<T>(Map<String, Reply<T>> byPath) {
        Reply<T> to(String path) {
            Reply<T> reply = byPath.get(path);
            if (reply == null) {
                throw new IllegalArgumentException("nobody asked for " + path);
            }
            return reply;
        }
    }

    /** Converts the data of a node as soon as they arrive, so that they need not all be kept. */
    @FunctionalInterface
    interface Digest<T> {
        T of(byte[] data, Stat stat);
    }

    /** Takes a reply, on ZooKeeper's event thread. */
    private interface Sink<T> {
        void accept(int code, @Nullable T value);
    }

    /** Sends a request. */
    private interface Ask<T> {
        void send(String path, Sink<T> sink);
    }

    /**
     * Reads through a handle.
     *
     * @param watcher is told of changes to what was read; if there is none, nothing is watched
     */
    Reads(ZooKeeper zk, Optional<Watcher> watcher) {
        this.zk = zk;
        this.watcher = watcher.orElse(null);
    }

    /**
     * Lists children.
     *
     * @throws BrokenReadException if a list got no answer
     */
    Replies<Children> children(Collection<String> paths) throws InterruptedException {
        return all(paths, (path, sink) -> {
            Children2Callback callback = (code, p, context, names, stat) ->
                    sink.accept(code, names == null || stat == null ? null : new Children(names, stat));
            zk.getChildren(path, watcher, callback, null);
        });
    }

    /**
     * Reads data.
     *
     * @throws BrokenReadException if a node got no answer
     */
    <T> Replies<T> data(Collection<String> paths, Digest<T> digest) throws InterruptedException {
        return all(paths, (path, sink) -> {
            DataCallback callback = (code, p, context, data, stat) ->
                    sink.accept(code, stat == null ? null : digest.of(data == null ? new byte[0] : data, stat));
            zk.getData(path, watcher, callback, null);
        });
    }

    /**
     * Whether a node is there; if not, its creation is watched.
     *
     * @throws BrokenReadException if there was no answer
     */
    boolean exists(String path) throws InterruptedException {
        return all(List.<String>of(path), (Ask<Stat>) (asked, sink) -> {
                    StatCallback callback = (code, p, context, stat) -> sink.accept(code, stat);
                    zk.exists(asked, watcher, callback, null);
                })
                .to(path)
                .isOk();
    }

    private static <T> Replies<T> all(Collection<String> paths, Ask<T> ask) throws InterruptedException {
        Semaphore room = new Semaphore(WINDOW);
        Map<String, Reply<T>> replies = new HashMap<>(paths.size() * 2); // event thread; ours when all permits are back
        AtomicReference<@Nullable BrokenReadException> broken = new AtomicReference<>();
        for (String path : paths) {
            room.acquire();
            if (broken.get() != null) {
                room.release();
                break;
            }
            ask.send(path, (number, value) -> {
                Code code = Code.get(number);
                if (code == Code.OK || code == Code.NONODE || code == Code.NOAUTH) {
                    replies.put(path, new Reply<>(code, value));
                } else {
                    broken.compareAndSet(null, new BrokenReadException(path, code));
                }
                room.release();
            });
        }
        room.acquire(WINDOW);
        BrokenReadException failure = broken.get();
        if (failure != null) {
            throw failure;
        }
        return new Replies<>(replies);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.StatCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Reads many nodes at a time, and reads again if the connection or the session is lost. With watches, it keeps each
 * answer until ZooKeeper reports a change.
 *
 * <p>Only one thread may use it, except that any thread may call {@link #wake}. Answers and changes arrive on
 * ZooKeeper's event thread.
 */
final class Reads implements Watcher {
    /**
     * How many requests may be open at a time. By default, a server stops reading from its clients while it has a
     * thousand unanswered requests.
     */
    private static final int WINDOW = 400;

    private static final int MOST_FAILURES = 4;
    private static final Duration PAUSE = Duration.ofMillis(200);
    /**
     * How much of a node's data is kept. Other programs may store anything there, and it must not fill the memory.
     */
    private static final int LONGEST_DATA = 16 << 10;

    private final ZooKeeperClient client;
    private final @Nullable Watcher watcher;
    private final Map<String, Answer<List<String>>> lists = new ConcurrentHashMap<>();
    private final Map<String, Answer<Content>> contents = new ConcurrentHashMap<>();
    private final Semaphore changes = new Semaphore(0);
    private @Nullable ZooKeeper handle;

    /** Code that reads while there is a connection. */
    @FunctionalInterface
    interface Look<T> {
        T read() throws InterruptedException, KeeperException;
    }

    /** Receives an answer, on ZooKeeper's event thread. */
    private interface Sink<T> {
        void accept(int code, @Nullable T value);
    }

    /** Sends one request. */
    private interface Ask<T> {
        void send(String path, Sink<T> sink);
    }

    Reads(ZooKeeperClient client, boolean watched) {
        this.client = client;
        this.watcher = watched ? this : null;
    }

    /**
     * Runs a read, and repeats it if the connection is lost meanwhile.
     *
     * @throws LockConnectionException if no connection is established in time, or if the connection is lost repeatedly
     * @throws LockAccessException if the credentials are refused
     */
    <T> T attempt(String root, Look<T> look) throws InterruptedException {
        for (int failures = 1; ; failures++) {
            ZooKeeper now =
                    connected(client, " while reading " + PlainText.of(root) + ": its state is unknown; try again");
            if (handle != now) { // a new session has no watches: nothing would report changes of what is kept
                handle = now;
                lists.clear();
                contents.clear();
            }
            try {
                return look.read();
            } catch (KeeperException e) {
                if (failures == MOST_FAILURES) {
                    throw new LockConnectionException(
                            "the connection was lost " + failures + " times while reading "
                                    + PlainText.of(root) + " (" + e.getMessage()
                                    + "): try again; if that does not help, the list is longer than a packet may be: set"
                                    + " ZKLOCK_JAVA_OPTIONS=-Djute.maxbuffer=BYTES, more than 1048575",
                            e);
                }
                awaitChange(PAUSE);
            }
        }
    }

    /**
     * Waits until a client is connected, and returns its handle.
     *
     * @param doing the end of the message: what the handle is for, and what the user can do
     * @throws LockConnectionException if no server answers in time
     */
    static ZooKeeper connected(ZooKeeperClient client, String doing) throws InterruptedException {
        Duration limit = ConnectOptions.CONNECT_LIMIT;
        boolean connected = client.awaitConnected(limit);
        return client.zooKeeper()
                .filter(any -> connected)
                .orElseThrow(() -> new LockConnectionException(
                        "no server answered within " + limit.toMillis() / 1e3 + " s" + doing));
    }

    /** Lists the children of some paths. If a path does not exist, its creation is watched. */
    Map<String, Answer<List<String>>> children(Collection<String> paths) throws InterruptedException, KeeperException {
        return all(paths, lists, this::list);
    }

    private void list(String path, Sink<List<String>> sink) {
        StatCallback looked = (code, p, context, stat) -> {
            if (code == Code.OK.intValue()) {
                list(path, sink); // the node was created between the two requests
            } else {
                sink.accept(code, null);
            }
        };
        ChildrenCallback listed = (code, p, context, names) -> {
            if (code == Code.NONODE.intValue() && watcher != null) {
                zk().exists(path, watcher, looked, null);
            } else {
                sink.accept(code, names);
            }
        };
        zk().getChildren(path, watcher, listed, null);
    }

    /** Reads the data of some paths. */
    Map<String, Answer<Content>> contents(Collection<String> paths) throws InterruptedException, KeeperException {
        return all(paths, contents, (path, sink) -> {
            DataCallback callback =
                    (code, p, context, data, stat) -> sink.accept(code, stat == null ? null : content(data, stat));
            zk().getData(path, watcher, callback, null);
        });
    }

    private static Content content(byte @Nullable [] data, Stat stat) {
        byte[] whole = data == null ? new byte[0] : data;
        return new Content(whole.length <= LONGEST_DATA ? whole : Arrays.copyOf(whole, LONGEST_DATA), stat);
    }

    private ZooKeeper zk() {
        ZooKeeper now = handle;
        if (now == null) {
            throw new IllegalStateException("a read outside an attempt");
        }
        return now;
    }

    /**
     * Returns the answers for some paths: those that are known, and those to new requests for the rest. Waits until
     * all requests are answered. OK, NONODE and NOAUTH count as answers.
     *
     * @throws KeeperException if a request failed for another reason, such as a lost connection
     */
    private static <T> Map<String, Answer<T>> all(Collection<String> paths, Map<String, Answer<T>> known, Ask<T> ask)
            throws InterruptedException, KeeperException {
        Semaphore room = new Semaphore(WINDOW);
        Map<String, Answer<T>> answers = new ConcurrentHashMap<>();
        Map<String, Code> broken = new ConcurrentHashMap<>();
        for (String path : paths) {
            Answer<T> before = known.get(path);
            if (before != null) {
                answers.put(path, before);
                continue;
            }
            room.acquire();
            if (!broken.isEmpty()) {
                room.release();
                break;
            }
            ask.send(path, (number, value) -> {
                Code code = Answer.codeOf(number);
                Answer<T> answer = new Answer<>(code, value);
                if (answer.isOk()) {
                    known.put(path, answer); // before any event of the node, as events come on this thread, too
                } else if (code != Code.NONODE && code != Code.NOAUTH) {
                    broken.put(path, code);
                }
                answers.put(path, answer);
                room.release();
            });
        }
        room.acquire(WINDOW); // all of it is free once every request has been answered
        if (broken.containsValue(Code.AUTHFAILED)) {
            throw ConnectOptions.refused();
        }
        for (Map.Entry<String, Code> each : broken.entrySet()) {
            throw KeeperException.create(each.getValue(), each.getKey());
        }
        return new TreeMap<>(answers);
    }

    /** Forgets what has changed, so that the next read requests it again. Called on ZooKeeper's event thread. */
    @Override
    public void process(WatchedEvent event) {
        String path = event.getPath();
        if (path != null) {
            switch (event.getType()) {
                case NodeChildrenChanged -> lists.remove(path);
                case NodeDataChanged -> contents.remove(path);
                default -> {
                    lists.remove(path);
                    contents.remove(path);
                }
            }
        }
        wake();
    }

    /** Makes {@link #awaitChange} return. May be called from any thread. */
    void wake() {
        changes.release();
    }

    /**
     * Waits until something may have changed, but no longer than {@code atMost}. Returns false if that time has
     * elapsed.
     */
    boolean awaitChange(Duration atMost) throws InterruptedException {
        boolean changed = changes.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS);
        if (changed) {
            // One read covers all changes so far. After a time-out nothing is drained, because a change that has
            // arrived since then belongs to the next call.
            changes.drainPermits();
        }
        return changed;
    }
}

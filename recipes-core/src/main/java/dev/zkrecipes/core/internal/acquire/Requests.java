// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.clean.NodeCleaner;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.source.SessionSource;
import dev.zkrecipes.core.internal.source.SessionTask;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the requests of one client share, and which of them are under way. Thread-safe, except where a method says that
 * it is confined to the engine thread.
 */
public final class Requests {
    private record QueueKey(Session session, String path) {}

    private static final Logger log = LoggerFactory.getLogger(Requests.class);

    private final EngineScheduler scheduler;
    private final SessionSource sessions;
    final NodeCleaner cleaner;
    private final Pauses pauses;
    private final byte[] nodeData; // the data of nodes, unless the options of a lock name another label
    final String rootName; // how messages name the node that is above all paths
    private final Function<String, LockException> notConnected;
    private final Map<QueueKey, QueueView> queues = new HashMap<>(); // the queues in which requests wait
    private final Set<SessionTask> open = ConcurrentHashMap.newKeySet(); // requests that are under way
    private final Set<Runnable> questions = ConcurrentHashMap.newKeySet(); // each fails an awaited answer
    private volatile boolean closed;
    private volatile @Nullable Throwable failure; // why the client has ended itself; null if it has not
    // The zxid of the latest transaction that created a node of this client. Confined to the engine thread.
    private long newest;

    /**
     * {@code rootName} is how messages name the node that is above all paths. {@code notConnected} creates the
     * exception that reports a missing connection; its argument says what follows from that.
     */
    public Requests(
            EngineScheduler scheduler,
            SessionSource sessions,
            NodeCleaner cleaner,
            Pauses pauses,
            byte[] nodeData,
            String rootName,
            Function<String, LockException> notConnected) {
        this.scheduler = scheduler;
        this.sessions = sessions;
        this.cleaner = cleaner;
        this.pauses = pauses;
        this.nodeData = nodeData.clone();
        this.rootName = rootName;
        this.notConnected = notConnected;
    }

    /**
     * Returns the zxid of the latest transaction that created a node of this client. Call only on the engine thread.
     */
    long newest() {
        return newest;
    }

    /**
     * Records that a node was created by the transaction {@code zxid}, from which its fencing token is derived.
     * {@code newestBefore} is what {@link #newest()} was when the create was sent. A later create has a greater zxid,
     * unless the servers have lost data. In that case, new tokens are lower than the old ones, and a warning is logged.
     * Call only on the engine thread.
     */
    void made(OwnNode node, long zxid, long newestBefore) {
        if (zxid <= newestBefore) {
            log.warn(
                    "The ZooKeeper servers know less than this client has seen: the lock node {} was made by transaction 0x{},"
                            + " and an earlier one by 0x{}. Their data were lost or restored. Fencing tokens begin below the old"
                            + " ones, so a store that compares them refuses the new holders: give the store a new epoch, or"
                            + " use new paths for the locks (docs/operations.md).",
                    node.path(),
                    Long.toHexString(zxid),
                    Long.toHexString(newestBefore));
            newest = zxid;
        } else {
            newest = Math.max(newest, zxid);
        }
    }

    public EngineScheduler scheduler() {
        return scheduler;
    }

    public SessionSource sessions() {
        return sessions;
    }

    public Pauses pauses() {
        return pauses;
    }

    /**
     * Returns the data for a lock's nodes: the owner label in the options of the lock, or else the one in
     * {@code ofAll}, the options of the whole request, or else the client's. {@code holds} are the nodes that the
     * requesting thread holds. The data is not copied, because nobody changes it.
     */
    byte[] nodeData(LockSpec spec, LockOptions ofAll, List<String> holds) {
        Optional<String> label = spec.options().ownerLabel().or(ofAll::ownerLabel);
        byte[] data = label.isPresent() ? OwnerLabel.encode(label.get()) : nodeData;
        return holds.isEmpty() ? data : OwnerLabel.withHolds(data, holds);
    }

    /**
     * Returns an exception that reports the missing connection and what follows from it. May be called from any thread.
     */
    public LockException notConnected(String consequence) {
        return notConnected.apply(consequence);
    }

    /**
     * Passes a list that was taken just now to the requests that wait on these paths in this session. Call only on the
     * engine thread.
     */
    void tell(Session session, List<String> paths, ChildrenSnapshot list) {
        for (String path : paths) {
            QueueView view = queues.isEmpty() ? null : queues.get(new QueueKey(session, path));
            if (view != null) {
                view.accept(list);
            }
        }
    }

    /**
     * Returns the queue of a path, for a request that is about to wait in it. The queue begins with this list if nobody
     * waits in it yet. Call only on the engine thread.
     */
    QueueView queue(Session session, String path, ChildrenSnapshot list) {
        QueueKey key = new QueueKey(session, path);
        return queues.computeIfAbsent(
                key, absent -> new QueueView(session, path, list, cleaner, () -> queues.remove(key)));
    }

    /**
     * Lets a request begin, unless the client has ended. Returns whether it may begin. The request is added before
     * {@code closed} is read, so that the end of the client either finds the request or is seen here.
     */
    public boolean enter(SessionTask request) {
        open.add(request);
        boolean mayBegin = !closed;
        if (!mayBegin) {
            open.remove(request);
        }
        return mayBegin;
    }

    public void exit(SessionTask request) {
        open.remove(request);
    }

    /**
     * Registers an answer that a thread waits for. The end of the client fails it, even if the engine can no longer
     * answer.
     */
    public void ask(String lockPath, CompletableFuture<?> question) {
        Runnable end = () -> question.completeExceptionally(closedFor(lockPath));
        questions.add(end);
        Completion.on(question, (answer, thrown) -> questions.remove(end));
        // Read after the question was added, so that the end of the client either finds the question or is seen here.
        if (closed) {
            end.run();
        }
    }

    public void requireOpen(String lockPath) {
        if (closed) {
            throw closedFor(lockPath);
        }
    }

    /** Refuses all further requests, and fails all registered questions. */
    public void close() {
        closed = true;
        questions.forEach(Runnable::run);
    }

    /**
     * Refuses all further requests, because of an error that has ended the client. Returns whether this is the first
     * such error.
     */
    public boolean closeBecauseOf(Throwable cause) {
        boolean isNew = failure == null;
        failure = cause;
        close();
        return isNew;
    }

    /**
     * Returns the requests under way, which fail when the client ends: for locks, and for the revocation of locks. The
     * collection may change at any time.
     */
    public Collection<SessionTask> open() {
        return Collections.unmodifiableSet(open);
    }

    /**
     * Returns the exception for a request that comes after the end of the client, or was under way then. May be called
     * from any thread.
     */
    public ClientClosedException closedFor(String lockPath) {
        return closed("the ZooKeeperClient of the lock " + lockPath, " and a lock on it");
    }

    /**
     * Returns the exception for any call of a client that has ended. If the client has ended itself, the message says
     * to create a new client, followed by {@code andMore}.
     */
    public ClientClosedException closed(String client, String andMore) {
        Throwable cause = failure;
        return cause == null
                ? new ClientClosedException(client + " was closed: it takes no more requests")
                : new ClientClosedException(
                        client + " has ended itself, and its locks are lost, because of an error in it: "
                                + Printable.of(cause.toString())
                                + "; make a new client" + andMore
                                + ", and report the error. If it is a missing method or class, use the version of"
                                + " ZooKeeper that this library was built for",
                        cause);
    }
}

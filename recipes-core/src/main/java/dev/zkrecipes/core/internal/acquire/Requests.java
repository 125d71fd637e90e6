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

/** What the requests of one client share, and which of them are under way. Thread-safe. */
public final class Requests {
    private record QueueKey(Session session, String path) {}

    private static final Logger log = LoggerFactory.getLogger(Requests.class);

    private final EngineScheduler scheduler;
    private final SessionSource sessions;
    final NodeCleaner cleaner;
    private final Pauses pauses;
    private final byte[] nodeData;
    final String rootName;
    private final Function<String, LockException> notConnected;
    private final Map<QueueKey, QueueView> queues = new HashMap<>(); // those that requests wait in
    private final Set<SessionTask> open = ConcurrentHashMap.newKeySet();
    private final Set<Runnable> questions = ConcurrentHashMap.newKeySet(); // what ends each of them
    private volatile boolean closed;
    private volatile @Nullable Throwable failure;
    long newest; // the last transaction that made a node of this client; on the engine thread

    /** {@code rootName} is what all paths are below; {@code notConnected} adds what follows from that to an error. */
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
     * A node was made by the transaction {@code zxid}, on which its fencing token rests. What is made after {@code
     * newestBefore}, which was {@link #newest} when it was asked for, has a greater number, unless the servers have
     * forgotten something. On the engine thread.
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

    /** What the nodes carry; nobody changes it. {@code ofAll} are the options of what the lock is acquired with. */
    byte[] nodeData(LockSpec spec, LockOptions ofAll) {
        Optional<String> label = spec.options().ownerLabel().or(ofAll::ownerLabel);
        return label.isPresent() ? OwnerLabel.encode(label.get()) : nodeData;
    }

    public LockException notConnected(String consequence) {
        return notConnected.apply(consequence);
    }

    /** Tells those who wait on these paths in this session of a list that was taken just now. On the engine thread. */
    void tell(Session session, List<String> paths, ChildrenSnapshot list) {
        for (int i = 0; i < paths.size() && !queues.isEmpty(); i++) {
            QueueView view = queues.get(new QueueKey(session, paths.get(i)));
            if (view != null) {
                view.accept(list);
            }
        }
    }

    /** The queue of a path to wait in; it begins with this list if nobody waits there yet. On the engine thread. */
    QueueView queue(Session session, String path, ChildrenSnapshot list) {
        QueueKey key = new QueueKey(session, path);
        return queues.computeIfAbsent(
                key, absent -> new QueueView(session, path, list, cleaner, () -> queues.remove(key)));
    }

    /** Lets a request begin, unless the client is closed; returns whether it may. */
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

    /** A thread waits for this answer about a lock. It fails with the client, whatever becomes of the engine. */
    public void ask(String lockPath, CompletableFuture<?> question) {
        Runnable end = () -> question.completeExceptionally(closedFor(lockPath));
        questions.add(end);
        Completion.on(question, (answer, thrown) -> questions.remove(end));
        if (closed) { // looked at afterwards: whoever closes ends those that are open then
            end.run();
        }
    }

    public void requireOpen(String lockPath) {
        if (closed) {
            throw closedFor(lockPath);
        }
    }

    /** No request begins any more, and no question is answered. */
    public void close() {
        closed = true;
        questions.forEach(Runnable::run);
    }

    /** No request begins any more, because the client has ended of this. Returns whether that is new. */
    public boolean closeBecauseOf(Throwable cause) {
        boolean isNew = failure == null;
        failure = cause;
        close();
        return isNew;
    }

    /** The requests for locks, and those to give one back, that are under way and fail with the client. */
    public Collection<SessionTask> open() {
        return Collections.unmodifiableSet(open);
    }

    /** The error for a request that comes, or is under way, when the client has ended. Any thread. */
    public ClientClosedException closedFor(String lockPath) {
        return closed("the ZooKeeperClient of the lock " + lockPath, " and a lock on it");
    }

    /**
     * The error for any call of a client that has ended. If it has ended itself, the message says to make a new client
     * {@code andMore}.
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

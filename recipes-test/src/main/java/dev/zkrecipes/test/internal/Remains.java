// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.ZooKeeper;

/**
 * Finds state that a client must not keep once all its locks have been released. A client may keep views of the queues
 * that it used within the last minute, each with one watch on the path; {@link #keptViews} counts them. This class uses
 * reflection, so that the engine needs no hooks for tests. If a field is renamed, the suites fail, rather than pass
 * without checking anything.
 */
public final class Remains {
    private static final ClassValue<Map<String, Field>> FIELDS = new ClassValue<>() {
        @Override
        protected Map<String, Field> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private static final long LONGEST_UNUSED = TimeUnit.MINUTES.toNanos(1);

    private final List<String> left = new ArrayList<>();
    private final long now; // by the engine's clock
    private int views;

    private Remains(long now) {
        this.now = now;
    }

    /**
     * Names what is left in an open client. Reads the state of the engine on the engine thread, because no other thread
     * may read it.
     */
    public static List<String> of(ZooKeeperClient client) throws InterruptedException {
        CompletableFuture<List<String>> left = new CompletableFuture<>();
        try {
            EngineScheduler engine = (EngineScheduler) read(read(client, "engine"), "scheduler");
            engine.execute(() -> {
                try {
                    left.complete(look(client).left);
                } catch (ReflectiveOperationException | RuntimeException e) {
                    left.completeExceptionally(e);
                }
            });
            return left.get(60, TimeUnit.SECONDS);
        } catch (ReflectiveOperationException | ExecutionException | TimeoutException e) {
            throw new AssertionError("cannot look into the client " + client, e);
        }
    }

    /**
     * Names what is left in a client whose engine is not running now, such as a client of a simulated ensemble
     * between two steps.
     */
    public static List<String> in(ZooKeeperClient client) {
        try {
            return look(client).left;
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("cannot look into the client " + client, e);
        }
    }

    /** Returns the number of views kept by a client whose engine is not running now. */
    public static int keptViews(ZooKeeperClient client) {
        try {
            return look(client).views;
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("cannot look into the client " + client, e);
        }
    }

    private static Remains look(ZooKeeperClient client) throws ReflectiveOperationException {
        Object engine = read(client, "engine");
        Remains remains = new Remains(((EngineScheduler) read(engine, "scheduler")).nanoTime());
        List<Object> kept = new ArrayList<>(); // paths
        remains.note(
                read(engine, "requests"), "open", "the client has a request, or follows a request to give a lock back");
        remains.note(read(engine, "holds"), "ofThreads", "a thread has a record of holds");
        remains.note(read(engine, "requests"), "questions", "a thread waits for an answer");
        remains.note(read(engine, "requests"), "queues", "the client has the view of a queue");
        remains.note(read(engine, "cleaner"), "pending", "a deletion is pending");
        for (Object session : (Collection<?>) read(read(engine, "sessions"), "living")) {
            remains.note(session, "observers", "the session has an observer");
            Object registry = read(session, "watches");
            Map<?, ?> views = (Map<?, ?>) read(read(session, "keptViews"), "views");
            remains.noteViews(views.values());
            kept.addAll(views.keySet());
            remains.noteContent((Map<?, ?>) read(registry, "content"), views.values());
            remains.note(registry, "deletions", "the watch registry has a watch for a deletion");
            remains.note(read(session, "keepAlive"), "kept", "the keep-alive has a held node");
        }
        if (client.zooKeeper().isPresent()) {
            for (String kind : List.of("getDataWatches", "getChildWatches")) {
                Method watches = ZooKeeper.class.getDeclaredMethod(kind);
                watches.setAccessible(true);
                List<Object> paths = new ArrayList<>(
                        (Collection<?>) watches.invoke(client.zooKeeper().get()));
                if (kind.equals("getDataWatches")) {
                    paths.removeAll(kept);
                }
                remains.note(paths, "the handle has a watch: " + kind);
            }
        }
        return remains;
    }

    private void noteViews(Collection<?> kept) throws ReflectiveOperationException {
        views += kept.size();
        for (Object view : kept) {
            if (now - (long) read(view, "usedAt") > LONGEST_UNUSED) {
                left.add("the session keeps the view of a queue that it has not used for a minute");
            }
        }
    }

    private void noteContent(Map<?, ?> watches, Collection<?> kept) throws ReflectiveOperationException {
        for (Object watch : watches.values()) {
            Collection<?> subscribers = (Collection<?>) read(watch, "subscribers");
            if (subscribers.isEmpty() || !kept.containsAll(subscribers)) {
                left.add("the watch registry has a watch for content");
            }
        }
    }

    private void note(Object owner, String field, String what) throws ReflectiveOperationException {
        note(read(owner, field), what);
    }

    private void note(Object entries, String what) {
        boolean isEmpty = entries instanceof Map<?, ?> map ? map.isEmpty() : ((Collection<?>) entries).isEmpty();
        if (!isEmpty) {
            left.add(what);
        }
    }

    private static Object read(Object owner, String name) throws ReflectiveOperationException {
        return Objects.requireNonNull(field(owner.getClass(), name).get(owner), name);
    }

    private static Field field(Class<?> type, String name) throws NoSuchFieldException {
        Map<String, Field> known = FIELDS.get(type);
        Field field = known.get(name);
        if (field == null) {
            field = type.getDeclaredField(name);
            field.setAccessible(true);
            known.put(name, field);
        }
        return field;
    }
}

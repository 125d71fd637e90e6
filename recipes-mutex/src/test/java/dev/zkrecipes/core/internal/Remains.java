// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;

/** What a client whose locks are all given back must not know any more. */
public final class Remains {
    private Remains() {}

    /** Names what is left in an open client, as its own thread sees it; empty if nothing is. */
    public static List<String> of(ZooKeeperClient client) throws Exception {
        EngineClient engine = EngineClient.of(client);
        CompletableFuture<List<String>> left = new CompletableFuture<>();
        engine.scheduler()
                .execute(() -> engine.sessions().request(new SessionSource.User() {
                    @Override
                    public void with(Session session) {
                        try {
                            left.complete(look(engine, session));
                        } catch (ReflectiveOperationException e) {
                            left.completeExceptionally(e);
                        }
                    }

                    @Override
                    public String lockPath() {
                        return "/";
                    }

                    @Override
                    public void unavailable(LockException why) {
                        left.completeExceptionally(why);
                    }
                }));
        return left.get(5, TimeUnit.SECONDS);
    }

    private static List<String> look(EngineClient engine, Session session) throws ReflectiveOperationException {
        List<String> left = new ArrayList<>();
        note(left, !engine.queueGuard().isEmpty(), "the queue guard watches over an attempt");
        note(left, !engine.cleaner().isEmpty(), "a deletion is pending");
        note(left, !session.watches().isEmpty(), "the watch registry has a watch");
        note(left, !session.leases().isEmpty(), "the lease keeper has a lease");
        note(left, !collection(engine, "attempts").isEmpty(), "the client has an attempt");
        note(left, !collection(session, "observers").isEmpty(), "the session has an observer");
        ZooKeeper handle = session.zk().handle().orElseThrow();
        note(left, !watches(handle, "getDataWatches").isEmpty(), "the handle has a data watch");
        return left;
    }

    private static void note(List<String> left, boolean isLeft, String what) {
        if (isLeft) {
            left.add(what);
        }
    }

    private static Collection<?> collection(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return (Collection<?>) field.get(owner);
    }

    private static Collection<?> watches(ZooKeeper handle, String kind) throws ReflectiveOperationException {
        Method method = ZooKeeper.class.getDeclaredMethod(kind);
        method.setAccessible(true);
        return (Collection<?>) method.invoke(handle);
    }
}

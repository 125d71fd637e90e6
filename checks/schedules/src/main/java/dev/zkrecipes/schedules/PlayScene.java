// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What one schedule plays in: a server, clients with their engines, and the threads of an application. Time is Fray's:
 * it stands still but for a microsecond a step, and goes on when no thread can run until then. So a time that has
 * passed is a wake-up that was lost, or an answer that somebody waits for in vain.
 */
final class PlayScene {
    static final String PATH = "/locks/a";
    static final String OF_SEMAPHORE = "/locks/s";

    private final Server server = new Server();
    private final List<ServerSession> sessions = new ArrayList<>(); // guarded by itself
    private final List<ZooKeeperClient> clients = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private final AtomicInteger inside = new AtomicInteger();
    private final long begun = System.nanoTime();
    private long allowed = 500_000_000;

    /** What a thread does. */
    @FunctionalInterface
    interface Body {
        void run() throws InterruptedException, ExecutionException;
    }

    /** How a mutex on {@link #PATH} is made. */
    @FunctionalInterface
    interface Kind {
        InterProcessLock on(ZooKeeperClient client, LockOptions options);

        /** One in strict order. */
        static InterProcessLock strict(ZooKeeperClient client, LockOptions options) {
            return new InterProcessMutex(client, PATH, options);
        }

        /** One that passes on inside the process. */
        static Kind passedOn(int most) {
            return (client, options) -> new HandoffMutex(client, PATH, most, options);
        }

        /**
         * One that stays where it is used, for longer than anybody may wait: whoever waits for its time waits in vain.
         */
        static InterProcessLock kept(ZooKeeperClient client, LockOptions options) {
            return new HandoffMutex(client, PATH, 10, options).keepFor(Duration.ofHours(1));
        }
    }

    /** One thread of the application. */
    static final class Actor {
        private final Thread thread;
        private volatile @Nullable Throwable failure;

        private Actor(String name, Body body) {
            thread = new Thread(
                    () -> {
                        try {
                            body.run();
                        } catch (InterruptedException | ExecutionException | RuntimeException | AssertionError e) {
                            failure = e;
                        }
                    },
                    name);
            thread.start();
        }

        void interrupt() {
            thread.interrupt();
        }

        private void join() throws InterruptedException {
            thread.join();
            if (failure != null) {
                throw new IllegalStateException(thread.getName() + " failed", failure);
            }
        }
    }

    Server server() {
        return server;
    }

    /** So much time may pass. */
    void allow(Duration time) {
        allowed += time.toNanos();
    }

    ZooKeeperClient client() throws InterruptedException {
        return client(builder -> builder);
    }

    /** One that is connected. */
    ZooKeeperClient client(UnaryOperator<ZooKeeperClientBuilder> settings) throws InterruptedException {
        RealEngine engine = new RealEngine(clients.size() + 1);
        ZooKeeperOperations.Factory factory = server.of(engine, this::opened);
        ZooKeeperClient made =
                settings.apply(Ports.clientBuilder(factory, engine)).build();
        clients.add(made);
        check(made.awaitConnected(Duration.ofSeconds(1)), "not connected");
        return made;
    }

    private void opened(ServerSession session) {
        synchronized (sessions) {
            sessions.add(session);
        }
    }

    /** Ends the session that was opened first. */
    void expire() {
        ServerSession session;
        synchronized (sessions) {
            session = sessions.get(0);
        }
        session.expire();
    }

    Actor start(String name, Body body) {
        Actor started = new Actor(name, body);
        actors.add(started);
        return started;
    }

    /** What the lock protects. */
    void enter(Lease lease) {
        check(inside.getAndIncrement() == 0, "two are inside");
        inside.getAndDecrement();
        lease.close();
    }

    /** The body ends like this, or well. */
    static boolean endsAs(Class<? extends Exception> how, Body body) throws InterruptedException, ExecutionException {
        try {
            body.run();
            return false;
        } catch (InterruptedException | ExecutionException | RuntimeException e) {
            Throwable told = e instanceof ExecutionException ? e.getCause() : e;
            if (how.isInstance(told)) {
                return true;
            }
            throw e;
        }
    }

    void joinAll() throws InterruptedException {
        for (Actor actor : actors) {
            actor.join();
        }
    }

    /**
     * A client that is closed looks for a while for nodes that requests of an ended session may have made: it does not
     * know that a server ended it, before which they cannot come.
     */
    void closingTakesTime() {
        allow(Duration.ofSeconds(6));
    }

    /** Whoever comes now gets the lock. */
    void expectFree(ZooKeeperClient client) throws InterruptedException {
        joinAll();
        new InterProcessMutex(client, PATH).acquire().close();
        expectNobodyWaited();
    }

    /** What a lease says of its end, it says everywhere. */
    static void expectOneEnd(Lease lease) throws InterruptedException, ExecutionException {
        LeaseState told = lease.ended().toCompletableFuture().get();
        check(told == lease.state(), "ended() says " + told + ", state() says " + lease.state());
    }

    /** No call has waited for a time to pass, and nothing is left. */
    void end() throws InterruptedException {
        joinAll();
        expectNobodyWaited();
        clients.forEach(ZooKeeperClient::close);
        expectNobodyWaited();
        check(server.children(PATH).isEmpty(), "left behind: " + server.children(PATH));
    }

    private void expectNobodyWaited() {
        long took = System.nanoTime() - begun;
        check(took < allowed, "somebody waited in vain for " + took / 1_000_000 + " ms");
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}

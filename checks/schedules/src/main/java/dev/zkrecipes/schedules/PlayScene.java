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
 * it advances by a microsecond per step, and jumps to the next deadline when no thread can run. So if a play takes more
 * time than it is allowed, a wake-up was lost, or a thread waited in vain for an answer.
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

    /** The code of a thread. */
    @FunctionalInterface
    interface Body {
        void run() throws InterruptedException, ExecutionException;
    }

    /** Creates mutexes of one kind on {@link #PATH}. */
    @FunctionalInterface
    interface Kind {
        InterProcessLock on(ZooKeeperClient client, LockOptions options);

        /** Creates a mutex in strict order. */
        static InterProcessLock strict(ZooKeeperClient client, LockOptions options) {
            return new InterProcessMutex(client, PATH, options);
        }

        /** Returns a kind of mutex that is handed over inside the process, at most this many times in a row. */
        static Kind passedOn(int most) {
            return (client, options) -> new HandoffMutex(client, PATH, most, options);
        }

        /**
         * Creates a mutex that keeps its node, while nobody uses it, for longer than a play may take. So a thread that
         * waits for the end of that time waits in vain.
         */
        static InterProcessLock kept(ZooKeeperClient client, LockOptions options) {
            return new HandoffMutex(client, PATH, 10, options).keepFor(Duration.ofHours(1));
        }
    }

    /** A thread of the application. */
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

    /** Allows the play to take more of Fray's time, in addition to the half second that every play may take. */
    void allow(Duration time) {
        allowed += time.toNanos();
    }

    ZooKeeperClient client() throws InterruptedException {
        return client(builder -> builder);
    }

    /** Creates a client that is connected. */
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

    /** Runs what the lock protects, and closes the lease. Fails if another thread is inside. */
    void enter(Lease lease) {
        check(inside.getAndIncrement() == 0, "two are inside");
        inside.getAndDecrement();
        lease.close();
    }

    /**
     * Runs a body that either succeeds or fails with {@code how}. Returns whether it failed, and throws any other
     * failure.
     */
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
     * Allows a client to take time to close. For a while it looks for nodes that requests of an ended session may have
     * created: it does not know that the server itself ended the session, after which there can be no such requests.
     */
    void closingTakesTime() {
        allow(Duration.ofSeconds(6));
    }

    /** Waits for all threads, and checks that a new request gets the lock. */
    void expectFree(ZooKeeperClient client) throws InterruptedException {
        joinAll();
        new InterProcessMutex(client, PATH).acquire().close();
        expectNobodyWaited();
    }

    /** Checks that all methods of a lease report the same end. */
    static void expectOneEnd(Lease lease) throws InterruptedException, ExecutionException {
        LeaseState told = lease.ended().toCompletableFuture().get();
        check(told == lease.state(), "ended() says " + told + ", state() says " + lease.state());
    }

    /** Ends the play. Checks that no call has waited for time to pass, and that no node is left. */
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

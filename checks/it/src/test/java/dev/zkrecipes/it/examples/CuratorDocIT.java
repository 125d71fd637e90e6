// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.curator.CuratorClients;
import dev.zkrecipes.curator.CuratorLocks;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The code of {@code docs/curator.md}. */
class CuratorDocIT extends ServerStage {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private final List<String> done = new ArrayList<>();
    private CuratorFramework curator;

    @BeforeEach
    void open() {
        curator = opened(CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false) // which has a watch of its own
                .build());
        curator.start();
    }

    private void work() {
        done.add("work");
    }

    private String compute() {
        work();
        return "done";
    }

    private void transfer(int from, int to) {
        done.add("transfer " + from + " " + to);
    }

    private void importInTwoThreads() {
        done.add("import");
    }

    @Test
    void multiLockBesideCuratorsOwn() throws Exception {
        ZooKeeperClient seven = CuratorClients.over(curator);
        ZooKeeperClient nine = CuratorClients.over(curator);
        InterProcessMultiLock both = new InterProcessMultiLock(
                List.of(new InterProcessMutex(seven, "/accounts/7"), new InterProcessMutex(nine, "/accounts/9")));
        try (Lease lease = both.acquire()) {
            assertThat(MultiLease.tokensOf(lease)).containsOnlyKeys("/accounts/7", "/accounts/9");
        }
    }

    @Test
    void clientOnTheFramework_andALockOfEitherInterface() throws Exception {
        ZooKeeperClient client = CuratorClients.over(curator);
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
        mutex.acquire().close();
        // Awaited, as the server may not have closed the connection of the test before yet.
        Soon.await()
                .untilAsserted(() ->
                        assertThat(server.watchCount()).as("the standing watch").isEqualTo(1));
        // Two seconds are too few for a machine that stands still, so this is tried again if there was no answer.
        Soon.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(LockConnectionException.class)
                .until(() -> {
                    Optional<String> result = mutex.tryCall(Duration.ofSeconds(2), lease -> compute());
                    assertThat(result).hasValue("done");
                    return true;
                });
        // Two seconds are too few for a machine that stands still, so this is tried again if there was no answer.
        Soon.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(KeeperException.ConnectionLossException.class)
                .until(() -> {
                    InterProcessLock lock = CuratorLocks.mutex(curator, "/locks/orders");
                    if (lock.acquire(2, TimeUnit.SECONDS)) {
                        try {
                            work();
                        } finally {
                            lock.release();
                        }
                    }
                    assertThat(done).containsExactly("work", "work");
                    return true;
                });
    }

    private interface Report {
        boolean hasNext();

        void writeNext(long token);

        void cancel();
    }

    @Test
    void clientInPlaceOfTheFramework_andAHolderThatLosesItsLock() throws Exception {
        String servers = server.connectString();
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(servers)
                .sessionTimeout(Duration.ofSeconds(60)) // what Curator asks for; 30 seconds by default
                .closeOnShutdown() // gives the locks back at SIGTERM, too
                .build();
        if (!client.awaitConnected(Duration.ofSeconds(15))) { // blockUntilConnected
            throw new IllegalStateException(
                    "no ZooKeeper at " + servers, client.connectionTrouble().orElse(null));
        }
        CountDownLatch cancelled = new CountDownLatch(1);
        Report report = new Report() {
            @Override
            public boolean hasNext() {
                return true;
            }

            /** Ends the session, and blocks until somebody cancels it. */
            @Override
            public void writeNext(long token) {
                done.add(token > 0 ? "written with a token" : "written");
                expire(client);
                Soon.await().until(() -> cancelled.getCount() == 0);
            }

            @Override
            public void cancel() {
                cancelled.countDown();
            }
        };
        // Two seconds are too few for a machine that stands still, so this is tried again if there was no answer.
        Soon.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(LockConnectionException.class)
                .until(() -> {
                    InterProcessMutex mutex = new InterProcessMutex(client, "/locks/reports");
                    boolean wasRun = mutex.tryRun(Duration.ofSeconds(2), lease -> {
                        lease.onLost(report::cancel); // runs on another thread, and ends a step that blocks
                        while (lease.isValid() && report.hasNext()) {
                            report.writeNext(lease.fencingToken());
                        }
                    });
                    assertThat(wasRun).isTrue();
                    return true;
                });
        assertThat(done).containsExactly("written with a token");
        client.close();
    }

    @Test
    void permitsAndSeveralLocks() throws Exception {
        ZooKeeperClient client = client();
        // Two seconds are too few for a machine that stands still, so this is tried again if there was no answer.
        Soon.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(LockConnectionException.class)
                .until(() -> {
                    done.clear();
                    InterProcessSemaphore imports = new InterProcessSemaphore(client, "/semaphores/imports", 10);
                    try (Lease permits = imports.acquire(2)) { // one lease for both
                        importInTwoThreads();
                    }
                    boolean imported = imports.permits(2).tryRun(Duration.ofSeconds(2), lease -> importInTwoThreads());
                    InterProcessMultiLock both =
                            new InterProcessMultiLock(client, List.of("/accounts/7", "/accounts/9"));
                    boolean moved = both.tryRun(Duration.ofSeconds(2), lease -> transfer(7, 9));
                    assertThat(imported && moved).isTrue();
                    assertThat(done).containsExactly("import", "import", "transfer 7 9");
                    return true;
                });
    }

    private interface Reports {
        void start(long token);

        void stop();
    }

    private final Reports reports = new Reports() {
        @Override
        public void start(long token) {
            done.add("started");
        }

        @Override
        public void stop() {
            done.add("stopped");
        }
    };

    @Test
    void latch() throws Exception {
        ZooKeeperClient client = client();
        String id = "web1";
        LeaderElection latch = new LeaderElection(
                client, "/leaders/reports", LockOptions.defaults().withOwnerLabel(id));
        latch.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) { // isLeader
                reports.start(term.number());
            }

            @Override
            public void termEnded(Term term) { // notLeader
                reports.stop();
            }
        });
        latch.join(); // start
        Optional<Term> term = latch.awaitLeadership(Duration.ofSeconds(30)); // await
        boolean leads = latch.isLeader(); // hasLeadership
        Optional<Participant> leader = latch.leader(); // getLeader, with the id as owner()
        latch.close(); // waits until stop() has returned
        assertThat(term).isPresent();
        assertThat(leads).isTrue();
        assertThat(leader).map(Participant::owner).hasValue(id);
        assertThat(done).containsExactly("started", "stopped");
    }

    private interface Nightly {
        void next(long token) throws InterruptedException;
    }

    @Test
    void selector() throws Exception {
        ZooKeeperClient client = client();
        CountDownLatch begun = new CountDownLatch(1);
        Nightly nightly = token -> {
            begun.countDown();
            new CountDownLatch(1).await();
        };
        LeaderElection selector = new LeaderElection(client, "/leaders/nightly");
        ExecutorService threads = Executors.newSingleThreadExecutor();
        Future<?> leading = threads.submit(
                () -> { // start, with autoRequeue; runOnce without
                    selector.run(
                            term -> { // takeLeadership
                                while (term.awaitValid(Duration.ofSeconds(30))) {
                                    nightly.next(term.number()); // interrupted when the term ends
                                }
                            });
                    return null;
                });
        Soon.await().until(() -> begun.getCount() == 0);
        selector.close(); // ends the term and waits for the work; then run returns
        leading.get(); // throws what the work threw
        threads.shutdown();
        assertThat(server.children("/leaders/nightly")).isEmpty();
    }

    @Test
    void limitFromASharedCount() throws Exception {
        ZooKeeperClient client = CuratorClients.over(curator);
        SharedCount count = new SharedCount(curator, "/limits/imports", 10);
        InterProcessSemaphore imports = new InterProcessSemaphore(client, "/semaphores/imports", 10);
        ExecutorService resizing = Executors.newSingleThreadExecutor();
        count.addListener(
                new SharedCountListener() {
                    @Override
                    public void countHasChanged(SharedCountReader counter, int newCount) throws InterruptedException {
                        imports.resize(newCount);
                    }

                    @Override
                    public void stateChanged(CuratorFramework framework, ConnectionState state) {}
                },
                resizing);
        count.start();
        imports.resize(count.getCount());

        assertThat(imports.availablePermits()).isEqualTo(10);
        count.setCount(4);
        Soon.await().until(() -> imports.availablePermits() == 4);
        count.close();
        resizing.shutdownNow();
    }

    /** Why the executor is needed. */
    @Test
    void resizeOnCuratorsEventThread_isRefused_andTheLimitStays() throws Exception {
        ZooKeeperClient client = CuratorClients.over(curator);
        InterProcessSemaphore permits = new InterProcessSemaphore(client, "/semaphores/direct", 10);
        BlockingQueue<Integer> refused = new LinkedBlockingQueue<>();
        try (SharedCount count = new SharedCount(curator, "/limits/direct", 10)) {
            count.addListener(new SharedCountListener() {
                @Override
                public void countHasChanged(SharedCountReader counter, int newCount) throws InterruptedException {
                    try {
                        permits.resize(newCount);
                    } catch (IllegalStateException e) {
                        refused.add(newCount);
                    }
                }

                @Override
                public void stateChanged(CuratorFramework framework, ConnectionState state) {}
            });
            count.start();
            count.setCount(4);
            Soon.await().until(() -> refused.contains(4)); // Curator may also tell the number that it began with
            assertThat(permits.availablePermits()).isEqualTo(10);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockObserver.Progress;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Remains;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Candidates on a real server: terms, listeners, resignations, losses. */
class LeaderElectionIT extends ServerStage {
    static final Duration LONG = Duration.ofSeconds(120);
    private ZooKeeperClient client;
    private ZooKeeperClient rivals;
    private LeaderElection one;
    private LeaderElection other;
    private final Diary diary = new Diary();
    private final Diary otherDiary = new Diary();

    @BeforeEach
    void open() throws InterruptedException {
        client = client();
        rivals = client();
        one = new LeaderElection(client, path);
        one.addListener(diary);
        other = new LeaderElection(rivals, path);
        other.addListener(otherDiary);
    }

    @AfterEach
    void close() {
        diary.begin.countDown();
        diary.end.countDown();
        assertThat(diary.hasOverlapped || otherDiary.hasOverlapped).isFalse();
    }

    private static Term leads(LeaderElection election) throws InterruptedException {
        return election.awaitLeadership(LONG).orElseThrow();
    }

    /** The first leads, and the other waits, watching it. */
    private Term bothStand() throws InterruptedException {
        one.join();
        Term term = leads(one);
        other.join();
        awaitNextInLine();
        return term;
    }

    /** The candidate behind the leader watches that one and its own node. */
    private void awaitNextInLine() {
        await().untilAsserted(() -> {
            List<String> queue = nodes();
            assertThat(queue).hasSize(2);
            Long waiting = server.owner(queue.get(1)).orElseThrow();
            assertThat(queue)
                    .allSatisfy(node -> assertThat(server.childWatchers(node)).contains(waiting));
        });
    }

    private List<String> nodes() {
        return server.children(path).stream()
                .map(name -> path + "/" + name)
                .sorted((a, b) -> a.substring(a.length() - 10).compareTo(b.substring(b.length() - 10)))
                .toList();
    }

    private void assertNothingLeft() {
        await().untilAsserted(() -> {
            assertThat(server.children(path)).isEmpty();
            assertThat(queueWatches(path)).isZero();
            assertThat(Remains.of(client)).isEmpty();
        });
    }

    // ---- Terms.

    @Test
    void candidates_leadInTurn_andStandAgainUntilTheyLeave() throws Exception {
        Term first = bothStand();
        await().until(one::isLeader);
        assertThat(other.isLeader()).isFalse();
        assertThat(other.participants()).extracting(Participant::holding).containsExactly(true, false);
        assertThat(other.leader().orElseThrow().owner()).isEqualTo(client.ownerLabel());
        Soon.get(one.resign());
        Term second = leads(other);
        assertThat(one.isLeader()).isFalse();
        assertThat(second.number()).isGreaterThan(first.number());
        awaitNodes(2);
        Soon.get(other.leave());
        assertThat(leads(one).number()).isGreaterThan(second.number());
        Soon.get(one.leave());
        assertThat(one.leader()).isEmpty();
        assertThat(diary.lines).containsExactly("began 1", "ended 1 RELEASED", "began 2", "ended 2 RELEASED");
        assertNothingLeft();
    }

    @Test
    void candidate_isNotSlow() throws Exception {
        List<String> slow = new CopyOnWriteArrayList<>();
        ZooKeeperClient watched =
                client(settings().slowAfter(Duration.ofMillis(1)).observer(request -> new Progress() {
                    @Override
                    public void onSlow(Duration waited) {
                        slow.add(request.path());
                    }
                }));
        one.join();
        leads(one);
        LeaderElection candidate = opened(new LeaderElection(watched, path));
        candidate.join();
        awaitNodes(2);
        String busy = path + "-lock";
        Lease held = lock(client, busy).acquire();
        var unused = lock(watched, busy).acquireAsync();
        await().untilAsserted(() -> assertThat(slow).contains(busy)); // a look that comes to the candidate first
        assertThat(slow).doesNotContain(path);
        held.close();
    }

    private static InterProcessLock lock(ZooKeeperClient client, String path) {
        return new LockInternals(client, path, new MutexDriver("lock-"), LockOptions.defaults()).unowned();
    }

    /** The term goes on until the leader complies. While it ends, nobody is asked any more. */
    @Test
    void leader_hearsThatItIsAskedBack_untilItsTermEnds() throws Exception {
        AtomicInteger heard = new AtomicInteger();
        ZooKeeperClient watched = client(settings().observer(request -> new Progress() {
            @Override
            public void onRevocationRequested() {
                heard.incrementAndGet();
            }
        }));
        LeaderElection leader = opened(new LeaderElection(watched, path));
        leader.addListener(diary);
        leader.join();
        Term term = leads(leader);
        List<String> asked = new CopyOnWriteArrayList<>();
        term.onRevocationRequested(request -> asked.add(request.requester()));
        try (Revocation first = new Revoker(rivals).request(leader.leader().orElseThrow())) {
            await().until(() -> asked.equals(List.of(rivals.ownerLabel())));
            assertThat(term.isValid()).isTrue();
            diary.end = new CountDownLatch(1);
            var unused = leader.leave();
            try (Revocation second = new Revoker(rivals).request(leader.leader().orElseThrow())) {
                await().until(() -> heard.get() == 2);
                diary.end.countDown();
                assertThat(second.await(LONG)).contains(RevocationOutcome.GIVEN_BACK);
            }
            assertThat(first.await(LONG)).contains(RevocationOutcome.GIVEN_BACK);
        }
        assertThat(asked).hasSize(1);
    }

    @Test
    void guard_holdsDuringTheTermOnly() throws Exception {
        one.join();
        Term term = leads(one);
        Op guard = term.guard();
        ZooKeeper zk = client.zooKeeper().orElseThrow();
        zk.multi(List.of(guard, Op.setData(path, new byte[] {1}, -1)));
        term.verify();
        Soon.get(one.resign());
        assertThatThrownBy(() -> zk.multi(List.of(guard, Op.setData(path, new byte[] {2}, -1))))
                .isInstanceOf(KeeperException.NoNodeException.class);
        assertThatThrownBy(term::guard).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(term.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(term.number()).isPositive();
    }

    @Test
    void resignation_isOneDelete_andNoRequestBeforeTheNextLeads() throws Exception {
        bothStand();
        RequestCounts start = server.requests();
        var unused = one.leave();
        leads(other);
        assertThat(server.requests().minus(start).consistsOf(RequestType.DELETE))
                .isTrue();
        one.join();
        awaitNextInLine();
        start = server.requests();
        CompletableFuture<Void> resigned = other.resign();
        leads(one);
        resigned.join();
        awaitNextInLine();
        RequestCounts spent = server.requests().minus(start);
        assertThat(spent.consistsOf(
                        RequestType.DELETE,
                        RequestType.CREATE2,
                        RequestType.GET_CHILDREN2,
                        RequestType.GET_CHILDREN,
                        RequestType.GET_CHILDREN))
                .as("the delete, then what a candidate costs that waits: " + spent)
                .isTrue();
    }

    @Test
    void resignation_isToldBeforeTheNodeGoes() throws Exception {
        bothStand();
        diary.end = new CountDownLatch(1);
        CompletableFuture<Void> resigned = one.resign();
        await().until(() -> diary.lines.contains("ended 1 RELEASED"));
        assertThat(one.isLeader()).isFalse();
        other.participants(); // by then it would have gone
        assertThat(server.children(path)).hasSize(2);
        assertThat(other.isLeader()).isFalse();
        assertThat(resigned).isNotDone();
        diary.end.countDown();
        leads(other);
        Soon.get(resigned);
    }

    @Test
    void joinWhileATermEnds_standsForTheNextOne() throws Exception {
        one.join();
        leads(one);
        diary.end = new CountDownLatch(1);
        CompletableFuture<Void> left = one.leave();
        await().until(() -> diary.lines.contains("ended 1 RELEASED"));
        one.join();
        one.participants(); // a request that was sent by then has its node
        assertThat(server.children(path)).hasSize(1);
        assertThat(left).isNotDone();
        diary.end.countDown();
        leads(one);
        assertThat(diary.lines).containsExactly("began 1", "ended 1 RELEASED", "began 2");
    }

    @Test
    void endOfATerm_isToldWhenTheCallOfItsBeginningHasReturned() throws Exception {
        diary.begin = new CountDownLatch(1);
        one.join();
        await().until(() -> !diary.lines.isEmpty());
        Term term = one.term().orElseThrow();
        await().until(one::isLeader);
        assertThat(one.awaitLeadership(Duration.ZERO)).isEmpty();
        var unused = one.resign();
        assertThat(Soon.get(term.ended())).isEqualTo(LeaseState.RELEASED);
        one.participants();
        assertThat(diary.lines).containsExactly("began 1");
        diary.begin.countDown();
        await().until(() -> diary.lines.size() == 3);
        assertThat(diary.lines).containsExactly("began 1", "ended 1 RELEASED", "began 2");
    }

    @Test
    void listenerThatResignsOrThrows_changesNothing() throws Exception {
        one = new LeaderElection(client, path);
        one.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {
                if (diary.terms.isEmpty()) {
                    var unused = one.resign();
                }
                throw new IllegalStateException("thrown on purpose");
            }

            @Override
            public void termEnded(Term term) {
                throw new IllegalStateException("thrown on purpose");
            }
        });
        one.addListener(diary);
        one.join();
        await().until(() -> diary.lines.size() == 3);
        assertThat(diary.lines).containsExactly("began 1", "ended 1 RELEASED", "began 2");
    }

    // ---- Losses.

    @Test
    void endOfTheSession_endsTheTerm_andStandsAgainInTheNextOne() throws Exception {
        one.join();
        Term lost = leads(one);
        expire(client);
        assertThat(Soon.get(lost.ended())).isEqualTo(LeaseState.LOST);
        await().until(() -> diary.lines.size() == 3);
        assertThat(diary.lines).containsExactly("began 1", "ended 1 LOST", "began 2");
        assertThat(leads(one).number()).isGreaterThan(lost.number());
        assertThatThrownBy(lost::guard).isInstanceOf(LockLostException.class);
        Soon.get(one.leave());
        assertNothingLeft();
    }

    @Test
    void nodeDeletedByAnOperator_endsTheTerm() throws Exception {
        one.join();
        Term term = leads(one);
        server.deleteNode(nodes().get(0));
        assertThatThrownBy(term::verify).isInstanceOf(LockLostException.class);
        await().until(() -> diary.lines.size() == 3);
        assertThat(diary.lines).containsExactly("began 1", "ended 1 LOST", "began 2");
    }

    @Test
    void limitOfATerm_endsIt() throws Exception {
        LeaderElection limited =
                new LeaderElection(client, path, LockOptions.defaults().withHoldAtMost(Duration.ofMillis(50)));
        limited.addListener(diary);
        limited.join();
        await().until(() -> diary.lines.size() > 2);
        assertThat(diary.lines).startsWith("began 1", "ended 1 LOST", "began 2");
        Soon.get(limited.leave());
    }

    // ---- Joining and leaving.

    /** Each leave meets a grant, or comes just before or after it. */
    @Test
    void leaveAgainstGrant_leavesNothing() throws Exception {
        for (int i = 0; i < 300; i++) {
            one.join();
            if (i % 3 == 0) {
                one.participants(); // a round trip
            } else if (i % 3 == 1) {
                await().until(() -> server.children(path).size() > 0);
            }
            if (i % 2 == 0) {
                var unused = one.resign();
            }
            var unused = one.leave();
        }
        assertNothingLeft();
        await().untilAsserted(() -> assertThat(diary.lines).hasSize(2 * diary.terms.size()));
        for (int i = 0; i < diary.lines.size(); i += 2) {
            assertThat(diary.lines.get(i)).isEqualTo("began " + (i / 2 + 1));
            assertThat(diary.lines.get(i + 1)).isEqualTo("ended " + (i / 2 + 1) + " RELEASED");
        }
    }

    @Test
    void lockOfAnotherKindOnThePath_withdraws_andIsTold() throws Exception {
        server.createNode(path, new byte[0]);
        ZooKeeper theirs = rivals.zooKeeper().orElseThrow();
        String lock = theirs.create(
                path + "/lock-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        one.join();
        assertThatThrownBy(() -> one.awaitLeadership(LONG)).isInstanceOf(IncompatibleNodeException.class);
        await().until(() -> diary.lines.contains("withdrawn IncompatibleNodeException"));
        assertThat(one.withdrawal().orElseThrow()).isInstanceOf(IncompatibleNodeException.class);
        assertThatThrownBy(() -> one.run(ignored -> {})).isInstanceOf(IncompatibleNodeException.class);
        assertThatThrownBy(() -> one.awaitLeadership(LONG)).isInstanceOf(IllegalStateException.class);
        server.deleteNode(lock);
        assertThat(one.withdrawal()).as("left after it").isEmpty();
        one.join();
        leads(one);
    }

    @Test
    void waitForLeadership_isLimited_andEndsWhenTheCandidateLeaves() throws Exception {
        assertThatThrownBy(() -> one.awaitLeadership(LONG))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(path)
                .hasMessageContaining("join");
        assertThatThrownBy(() -> one.awaitLeadership(LONG.negated())).isInstanceOf(IllegalArgumentException.class);
        bothStand();
        assertThat(other.awaitLeadership(Duration.ZERO)).isEmpty();
        assertThat(other.awaitLeadership(Duration.ofMillis(20))).isEmpty();
        CompletableFuture<Boolean> waited = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                waited.complete(other.awaitLeadership(LONG).isPresent());
            } catch (InterruptedException e) {
                waited.completeExceptionally(e);
            }
        });
        waiter.start();
        await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
        var unused = other.leave();
        assertThat(Soon.get(waited)).isFalse();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> one.awaitLeadership(LONG)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void policyThatGivesUp_withdrawsACandidateThatLosesItsPlace() throws Exception {
        one.join();
        leads(one);
        LeaderElection failing =
                new LeaderElection(rivals, path, LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL));
        failing.addListener(otherDiary);
        failing.join();
        awaitNextInLine();
        expire(rivals);
        await().until(() -> otherDiary.lines.contains("withdrawn QueuePlaceLostException"));
    }

    @Test
    void description_saysHowItStands() throws Exception {
        assertThat(one).hasToString("LeaderElection[" + path + ", left]");
        Term term = bothStand();
        assertThat(one.toString()).contains("leading", path, String.valueOf(term.number()));
        assertThat(other.toString()).contains("candidate");
        diary.end = new CountDownLatch(1);
        var unused = one.resign();
        assertThat(one.toString()).contains("ending", "RELEASED");
    }

    // ---- Working.

    @Test
    void work_runsInEachTerm_onAThreadOfItsOwn_untilTheCandidateLeaves() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        one.run(term -> {
            Soon.await().until(term::isValid);
            threads.add(Thread.currentThread());
            if (threads.size() == 3) {
                var unused = one.leave();
            }
        });
        assertThat(threads).hasSize(3).doesNotHaveDuplicates().doesNotContain(Thread.currentThread());
        await().until(() -> threads.stream().noneMatch(Thread::isAlive));
        await().until(() -> diary.lines.size() == 6);
        assertNothingLeft();
    }

    @Test
    void workOfOneTerm_isDone() throws Exception {
        assertThat(one.runOnce(term -> await().until(one::isLeader))).isTrue();
        await().until(() -> diary.lines.equals(List.of("began 1", "ended 1 RELEASED")));
        assertNothingLeft();
    }

    @Test
    void workOfALostTerm_isInterrupted_andTheNextTermHasItsOwn() throws Exception {
        AtomicReference<Term> first = new AtomicReference<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        one.run(term -> {
            if (first.compareAndSet(null, term)) {
                expire(client);
                try {
                    new CountDownLatch(1).await(); // until it is interrupted
                } catch (InterruptedException e) {
                    interrupted.set(true);
                    throw new IllegalStateException("a consequence, thrown on purpose", e);
                }
            }
            assertThat(term.number()).isGreaterThan(first.get().number());
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            var unused = one.leave();
        });
        assertThat(interrupted).isTrue();
        assertThat(first.get().state()).isEqualTo(LeaseState.LOST);
    }

    /** Before the thread that tells of losses. */
    @Test
    void workThatSeesTheLossFirst_hasNotFailed() throws Exception {
        for (int i = 0; i < 20; i++) {
            int terms = diary.terms.size();
            one.run(term -> {
                if (diary.terms.size() == terms + 1) {
                    server.deleteNode(term.guard().getPath());
                    term.verify();
                }
                var unused = one.leave();
            });
            assertThat(diary.terms).hasSize(terms + 2);
        }
    }

    @Test
    void workOfOneLostTerm_isNotDone() throws Exception {
        assertThat(one.runOnce(term -> {
                    expire(client);
                    new CountDownLatch(1).await(); // until it is interrupted
                }))
                .isFalse();
        assertNothingLeft();
    }

    @Test
    void failureOfTheWork_isThrownHere_andTheCandidateLeaves() {
        assertThatThrownBy(() -> one.run(term -> {
                    throw new IOException("thrown on purpose");
                }))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> one.run(term -> {
                    throw new AssertionError("thrown on purpose");
                }))
                .isInstanceOf(AssertionError.class);
        assertNothingLeft();
    }

    /** The work takes its time, and nobody else leads meanwhile. */
    @Test
    void interruptedCaller_waitsForItsWork_thenLeaves() throws Exception {
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch stop = new CountDownLatch(1);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                one.run(term -> {
                    working.countDown();
                    boolean stopped = false;
                    while (!stopped) {
                        try {
                            stop.await();
                            stopped = true;
                        } catch (InterruptedException e) {
                            diary.lines.add("interrupted");
                        }
                    }
                });
            } catch (InterruptedException | RuntimeException e) {
                thrown.complete(e);
            }
        });
        caller.start();
        working.await();
        assertThatThrownBy(() -> one.run(term -> {})).isInstanceOf(IllegalStateException.class);
        other.join();
        caller.interrupt();
        await().until(() -> diary.lines.contains("interrupted") && diary.lines.contains("ended 1 RELEASED"));
        other.participants();
        assertThat(other.isLeader()).isFalse();
        assertThat(thrown).isNotDone();
        stop.countDown();
        assertThat(Soon.get(thrown)).isInstanceOf(InterruptedException.class);
        leads(other);
    }

    @Test
    void interruptBeforeTheTerm_endsTheCall_andTheCandidateLeaves() throws Exception {
        other.join();
        leads(other);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> one.run(term -> {})).isInstanceOf(InterruptedException.class);
        awaitNodes(1);
    }

    /** Of a lost term nothing is left to be deleted, so its end completes the future in the middle of the election's work. */
    @Test
    @Tag("H278")
    void whoIsToldThatATermHasEnded_mayWaitForTheNextTerm() throws InterruptedException {
        CompletableFuture<Optional<Term>> again = new CompletableFuture<>();
        one.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {}

            @Override
            public void termEnded(Term term) {
                try {
                    one.participants(); // the answer follows that of the deletion
                } catch (InterruptedException e) {
                    again.completeExceptionally(e);
                }
                var unused = one.resign().thenRun(() -> {
                    try {
                        again.complete(one.awaitLeadership(LONG));
                    } catch (InterruptedException e) {
                        again.completeExceptionally(e);
                    }
                });
            }
        });
        one.join();
        Term lost = leads(one);
        server.deleteNode(lost.guard().getPath());
        assertThatThrownBy(lost::verify).isInstanceOf(LockLostException.class); // asked, as nobody watches the node
        Optional<Term> next = Soon.get(again);
        assertThat(next).isPresent();
        assertThat(next.get().number()).isGreaterThan(lost.number());
    }

    /** A closed client never opens again. One that is told so and stands again would be told without end. */
    @Test
    @Tag("H280")
    void candidateOfAClosedClient_thatStandsAgain_isToldOnce() throws InterruptedException {
        ZooKeeperClient direct = client(settings().callbackExecutor(Runnable::run));
        LeaderElection election = new LeaderElection(direct, path);
        AtomicInteger told = new AtomicInteger();
        election.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {}

            @Override
            public void termEnded(Term term) {}

            @Override
            public void withdrawn(LockException why) {
                if (told.incrementAndGet() < 100) {
                    election.join();
                }
            }
        });
        direct.close();
        election.join();
        assertThat(told).hasValue(1);
        assertThat(election.withdrawal()).get().isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> election.awaitLeadership(LONG)).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> election.run(term -> {})).isInstanceOf(ClientClosedException.class);
    }

    /** Returns the requests so far. The end of the term then waits for the answers to all that it asks for. */
    private RequestCounts awaitRequestsOfTheEnd(Term term, LeaderElection election) {
        term.ended().thenRun(() -> {
            try {
                election.participants();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        return server.requests();
    }

    /** A request that is withdrawn at once would leave its node for a moment, after the call has returned. */
    @Test
    @Tag("H281")
    void oneTerm_isOneRequest() throws InterruptedException {
        LeaderElection election = new LeaderElection(client(settings().callbackExecutor(Runnable::run)), path);
        AtomicReference<RequestCounts> start = new AtomicReference<>();
        assertThat(election.runOnce(term -> start.set(awaitRequestsOfTheEnd(term, election))))
                .isTrue();
        assertThat(server.children(path)).isEmpty();
        assertThat(server.requests().minus(start.get()).of(RequestType.CREATE2)).isZero();
    }

    @Test
    @Tag("H310")
    void oneTermThatEndsEarly_isOneRequest() throws InterruptedException {
        AtomicReference<RequestCounts> start = new AtomicReference<>();
        assertThat(one.runOnce(term -> start.set(resignAtWork()))).isFalse();
        assertThat(one.participants()).isEmpty();
        assertThat(server.requests().minus(start.get()).of(RequestType.CREATE2)).isZero();
    }

    @Test
    @Tag("H310")
    void errorAfterItsTerm_endsTheElection() throws InterruptedException {
        AtomicReference<RequestCounts> start = new AtomicReference<>();
        assertThatThrownBy(() -> one.run(term -> {
                    start.set(resignAtWork());
                    throw new AssertionError("thrown on purpose");
                }))
                .hasMessage("thrown on purpose");
        assertThat(one.participants()).isEmpty();
        assertThat(server.requests().minus(start.get()).of(RequestType.CREATE2)).isZero();
    }

    /**
     * Resigns, and returns the requests so far once the listeners have been told. So what follows from the end of the
     * work is done by the thread of the work, before the caller of {@code run} hears of it.
     */
    private RequestCounts resignAtWork() {
        RequestCounts before = server.requests();
        one.resign();
        assertThat(Thread.interrupted()).isTrue();
        await().until(() -> diary.lines.contains("ended 1 RELEASED") && isIdle(diary.teller));
        return before;
    }

    private static boolean isIdle(Thread callback) {
        return callback.getState() == Thread.State.WAITING || callback.getState() == Thread.State.TIMED_WAITING;
    }

    @ParameterizedTest
    @Tag("H281")
    @Tag("H310")
    @ValueSource(booleans = {false, true})
    void workThatFails_isTheLast(boolean once) throws InterruptedException {
        LeaderElection election = new LeaderElection(client(settings().callbackExecutor(Runnable::run)), path);
        AtomicReference<RequestCounts> start = new AtomicReference<>();
        LeaderWork<RuntimeException> work = term -> {
            start.set(awaitRequestsOfTheEnd(term, election));
            throw new IllegalArgumentException("thrown on purpose");
        };
        assertThatThrownBy(() -> {
                    if (once) {
                        election.runOnce(work);
                    } else {
                        election.run(work);
                    }
                })
                .hasMessage("thrown on purpose");
        assertThat(election.participants()).isEmpty();
        assertThat(server.requests().minus(start.get()).of(RequestType.CREATE2)).isZero();
    }

    /** The end of the last term takes back no later call of {@code join}. */
    @Test
    @Tag("H310")
    void joinWhileTheLastTermEnds_standsAgain() throws InterruptedException {
        assertThat(one.runOnce(term -> one.resign())).isFalse();
        one.join();
        assertThat(one.awaitLeadership(LONG)).isPresent();
    }

    /** A loop that asks each time for the stage must not fill the memory. */
    @Test
    @Tag("H311")
    void endOfATerm_isOneStage() throws InterruptedException {
        one.join();
        Term term = leads(one);
        assertThat((Object) term.ended()).isSameAs(term.ended());
        assertThat(term.ended().toCompletableFuture().complete(LeaseState.LOST)).isTrue(); // a copy
        assertThat(term.ended().toCompletableFuture().isDone()).isFalse();
    }
}

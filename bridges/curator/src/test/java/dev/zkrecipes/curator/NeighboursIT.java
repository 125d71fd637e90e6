// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.curator.Party.Hold;
import dev.zkrecipes.curator.Party.Kind;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** P14: processes with Apache Curator and processes with this library share mutexes and read-write locks. */
@Tag("H65")
class NeighboursIT extends ServerStage {
    private ZooKeeperClient client;
    private CuratorFramework curator;

    @BeforeEach
    void open() throws InterruptedException {
        client = client();
        curator = opened(CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100)));
        curator.start();
    }

    private Party ours(Kind kind) throws InterruptedException {
        return opened(Party.ours(server, path, kind));
    }

    private Party theirs(Kind kind) {
        return opened(Party.theirs(server, path, kind));
    }

    private Party party(boolean our, Kind kind) throws InterruptedException {
        return our ? ours(kind) : theirs(kind);
    }

    private static Hold get(CompletableFuture<Hold> wanted) {
        return Soon.get(wanted);
    }

    /** Asks and waits until the node is in the queue. */
    private CompletableFuture<Hold> queue(Party party) {
        int before = server.children(path).size();
        CompletableFuture<Hold> wanted = party.acquire();
        Soon.await().until(() -> server.children(path).size() == before + 1);
        return wanted;
    }

    /** Gives the server the time in which a lock that does not exclude would be granted: two round trips of each. */
    private void assertWaits(CompletableFuture<Hold> wanted) throws Exception {
        for (int i = 0; i < 2; i++) {
            client.zooKeeper().orElseThrow().exists("/", false);
            curator.checkExists().forPath("/");
        }
        assertThat(wanted).isNotDone();
    }

    @ParameterizedTest
    @CsvSource({
        "true, MUTEX, MUTEX", "false, MUTEX, MUTEX", "true, WRITE, WRITE", "false, WRITE, WRITE",
        "true, READ, WRITE", "false, READ, WRITE", "true, WRITE, READ", "false, WRITE, READ"
    })
    void conflictingLocks_areHandedOverInTurn(boolean ourFirst, Kind first, Kind second) throws Exception {
        Hold held = get(party(ourFirst, first).acquire());
        CompletableFuture<Hold> next = queue(party(!ourFirst, second));
        CompletableFuture<Hold> afterThat = queue(party(ourFirst, first));
        CompletableFuture<Hold> last = queue(party(!ourFirst, second));
        assertWaits(next);
        held.giveBack();
        Hold nextHeld = get(next);
        assertWaits(afterThat);
        assertWaits(last);
        nextHeld.giveBack();
        Hold thenHeld = get(afterThat);
        assertWaits(last);
        thenHeld.giveBack();
        get(last).giveBack();
        awaitNodes(0);
    }

    @ParameterizedTest
    @CsvSource({"true, MUTEX", "false, MUTEX", "true, WRITE", "false, WRITE"})
    void expiredHolder_isFollowedByTheOther(boolean ourFirst, Kind kind) throws Exception {
        Party dying = party(ourFirst, kind);
        get(dying.acquire());
        CompletableFuture<Hold> next = queue(party(!ourFirst, kind));
        assertWaits(next);
        server.expireSession(dying.session());
        get(next).giveBack();
    }

    @Test
    void readers_shareWithReaders_andAWriterBetweenThemIsNotOvertaken() throws Exception {
        Hold ourRead = get(ours(Kind.READ).acquire());
        Hold theirRead = get(theirs(Kind.READ).acquire());
        CompletableFuture<Hold> ourWrite = queue(ours(Kind.WRITE));
        CompletableFuture<Hold> theirLateRead = queue(theirs(Kind.READ));
        CompletableFuture<Hold> ourLateRead = queue(ours(Kind.READ));
        assertWaits(ourWrite);
        assertWaits(theirLateRead);
        assertWaits(ourLateRead);
        ourRead.giveBack();
        theirRead.giveBack();
        Hold written = get(ourWrite);
        assertWaits(theirLateRead);
        assertWaits(ourLateRead);
        written.giveBack();
        get(theirLateRead).giveBack();
        get(ourLateRead).giveBack();
    }

    @Test
    @Tag("H04")
    void ourDowngrade_keepsCuratorsWriterOut() throws Exception {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Hold> theirWrite = queue(theirs(Kind.WRITE));
        Lease reading = lock.readLock().acquire();
        writing.close();
        awaitNodes(2);
        assertWaits(theirWrite);
        reading.close();
        get(theirWrite).giveBack();
    }

    @Test
    @Tag("H04")
    void curatorsDowngrade_keepsOurWriterOut() throws Exception {
        var lock = new org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock(curator, path);
        lock.writeLock().acquire();
        CompletableFuture<Hold> ourWrite = queue(ours(Kind.WRITE));
        lock.readLock().acquire();
        lock.writeLock().release();
        awaitNodes(2);
        assertWaits(ourWrite);
        lock.readLock().release();
        get(ourWrite).giveBack();
    }

    @Test
    void abandonedWaiters_leaveBothQueues() throws Exception {
        Hold held = get(theirs(Kind.MUTEX).acquire());
        assertThat(new InterProcessMutex(client, path).tryAcquire()).isEmpty();
        assertThat(TimedTry.on(new InterProcessMutex(client, path))).isEmpty();
        awaitNodes(1);
        CompletableFuture<Lease> cancelled = new InterProcessMutex(client, path).acquireAsync();
        awaitNodes(2);
        CompletableFuture<Hold> next = queue(theirs(Kind.MUTEX));
        cancelled.cancel(true);
        awaitNodes(2);
        var theirs = new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, path);
        assertThat(theirs.acquire(50, TimeUnit.MILLISECONDS)).isFalse();
        CompletableFuture<Hold> last = queue(ours(Kind.MUTEX));
        held.giveBack();
        get(next).giveBack();
        get(last).giveBack();
        awaitNodes(0);
    }

    @Test
    @Tag("H64")
    void participants_includeNeighbours() throws Exception {
        Hold held = get(theirs(Kind.WRITE).acquire());
        CompletableFuture<Hold> waiting = queue(ours(Kind.READ));
        List<Participant> all =
                new InterProcessReadWriteLock(client, path).writeLock().participants();
        assertThat(all).extracting(Participant::holding).containsExactly(true, false);
        assertThat(all).extracting(Participant::kind).containsExactly("__WRIT__", "__READ__");
        assertThat(all.get(0).node()).startsWith("_c_");
        held.giveBack();
        get(waiting).giveBack();
    }

    @Test
    @Tag("H66")
    void curatorsOtherRecipe_onTheSamePath_isNamed() throws Exception {
        Hold mutex = get(theirs(Kind.MUTEX).acquire());
        assertThatThrownBy(new InterProcessReadWriteLock(client, path).writeLock()::acquire)
                .isInstanceOf(IncompatibleNodeException.class)
                .hasMessageContaining("lock-");
        mutex.giveBack();
    }

    /** Four processes of each kind; nothing but the lock protects what they count. */
    @ParameterizedTest
    @CsvSource({"MUTEX", "WRITE"})
    @Tag("soak")
    void fourAndFourProcesses_loseNoIncrement(Kind kind) throws Exception {
        int rounds = 100;
        int[] counter = {0};
        try (Workers workers = new Workers()) {
            for (int i = 0; i < 8; i++) {
                Party party = party(i % 2 == 0, kind);
                workers.start(party + "-" + i, () -> {
                    for (int round = 0; round < rounds; round++) {
                        Hold hold = party.acquire().get(120, TimeUnit.SECONDS);
                        int seen = counter[0];
                        Thread.onSpinWait();
                        counter[0] = seen + 1;
                        hold.giveBack();
                    }
                });
                if (kind == Kind.WRITE) {
                    Party reader = party(i % 2 == 0, Kind.READ);
                    workers.start(reader + "-" + i, () -> {
                        for (int round = 0; round < rounds / 4; round++) {
                            Hold hold = reader.acquire().get(120, TimeUnit.SECONDS);
                            int seen = counter[0];
                            server.lastZxid();
                            assertThat(counter[0]).isEqualTo(seen);
                            hold.giveBack();
                        }
                    });
                }
            }
            workers.join(Duration.ofSeconds(120));
        }
        assertThat(counter[0]).isEqualTo(8 * rounds);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import static dev.zkrecipes.schedules.PlayScene.PATH;
import static dev.zkrecipes.schedules.PlayScene.check;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Plays in which a candidate is elected, resigns, leaves, works or loses its term, several of these at the same time.
 */
final class Elections {
    static final List<Play> ALL = List.of(
            new Play("leader-leave-against-grant", Elections::leaveAgainstGrant),
            new Play("leader-resign-against-loss", Elections::resignAgainstLoss),
            new Play("leader-leave-against-join", Elections::leaveAgainstJoin),
            new Play("leader-client-close-against-grant", Elections::clientCloseAgainstGrant),
            new Play("leader-client-close-against-close", Elections::clientCloseAgainstClose),
            new Play("leader-work-against-loss", Elections::workAgainstLoss),
            new Play("leader-work-against-interrupt", Elections::workAgainstInterrupt),
            new Play(
                    "leader-work-against-leave",
                    scene -> workAgainstEnd(
                            scene, (election, client) -> election.leave().get())),
            new Play(
                    "leader-work-against-client-close",
                    scene -> workAgainstEnd(scene, (election, client) -> client.close())),
            new Play("leader-wait-against-leave", Elections::waitAgainstLeave));

    private static final Duration LONG = Duration.ofSeconds(5);

    private Elections() {}

    private interface Ending {
        void of(LeaderElection election, ZooKeeperClient client) throws InterruptedException, ExecutionException;
    }

    /** Checks that terms begin and end in turn, and that the listener is called by one thread at a time. */
    private static final class Diary implements LeaderListener {
        private final AtomicInteger inside = new AtomicInteger();
        private volatile @Nullable Term present;
        private volatile boolean isRight = true;

        @Override
        public void termBegan(Term term) {
            note(present == null);
            present = term;
            inside.decrementAndGet();
        }

        @Override
        public void termEnded(Term term) {
            note(present == term && !term.isValid());
            present = null;
            inside.decrementAndGet();
        }

        private void note(boolean holds) {
            isRight &= holds && inside.getAndIncrement() == 0;
        }
    }

    /**
     * Ends a play. Has the candidate leave and be elected once more, which shows that no abandoned request blocks it.
     * Checks that each term that began has ended.
     */
    private static void end(PlayScene scene, LeaderElection election, Diary diary)
            throws InterruptedException, ExecutionException {
        scene.joinAll();
        election.leave().get();
        election.join();
        check(election.awaitLeadership(LONG).isPresent(), "not elected again");
        election.leave().get();
        check(diary.isRight && diary.present == null, "told wrongly: " + election);
    }

    private static LeaderElection election(PlayScene scene, Diary diary) throws InterruptedException {
        return election(scene.client(), diary);
    }

    private static LeaderElection election(ZooKeeperClient client, Diary diary) {
        LeaderElection election = new LeaderElection(client, PATH);
        election.addListener(diary);
        return election;
    }

    private static void leaveAgainstGrant(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        LeaderElection election = election(scene, diary);
        LeaderElection rival = election(scene, new Diary());
        rival.join();
        check(rival.awaitLeadership(LONG).isPresent(), "not elected");
        election.join();
        scene.start("resigns for good", () -> rival.leave().get());
        scene.start("leaves", () -> election.leave().get());
        end(scene, election, diary);
    }

    private static void leaveAgainstJoin(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        LeaderElection election = election(scene, diary);
        election.join();
        scene.start("leaves", () -> election.leave().get());
        scene.start("joins", election::join);
        scene.start("leaves, too", () -> election.leave().get());
        end(scene, election, diary);
    }

    /**
     * Returns a rival of a candidate whose client is closed. If the rival's term begins before the candidate is
     * notified of the end of its own term, the rival marks the diary as wrong.
     */
    private static LeaderElection rivalOf(Diary diary, PlayScene scene) throws InterruptedException {
        LeaderElection rival = election(scene, new Diary());
        rival.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {
                diary.isRight &= diary.present == null;
            }

            @Override
            public void termEnded(Term term) {}
        });
        return rival;
    }

    private static void clientCloseAgainstGrant(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        ZooKeeperClient client = scene.client();
        LeaderElection election = election(client, diary);
        LeaderElection rival = rivalOf(diary, scene);
        rival.join();
        check(rival.awaitLeadership(LONG).isPresent(), "not elected");
        election.join();
        scene.start("resigns", () -> rival.resign().get());
        scene.start("closes the client", client::close);
        endBeside(scene, rival, diary);
    }

    private static void clientCloseAgainstClose(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        ZooKeeperClient client = scene.client();
        LeaderElection election = election(client, diary);
        LeaderElection rival = rivalOf(diary, scene);
        election.join();
        check(election.awaitLeadership(LONG).isPresent(), "not elected");
        rival.join();
        scene.start("closes the client", client::close);
        scene.start("closes", () -> {
            election.close();
            check(diary.present == null, "closed before its end was told");
        });
        endBeside(scene, rival, diary);
    }

    private static void endBeside(PlayScene scene, LeaderElection rival, Diary diary)
            throws InterruptedException, ExecutionException {
        scene.joinAll();
        check(rival.awaitLeadership(LONG).isPresent(), "not elected again");
        rival.leave().get();
        check(diary.isRight && diary.present == null, "told wrongly, or beside the next leader");
    }

    private static void resignAgainstLoss(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        LeaderElection election = election(scene, diary);
        election.join();
        Term term = election.awaitLeadership(LONG).orElseThrow();
        scene.closingTakesTime();
        scene.start("resigns", () -> election.resign().get());
        scene.start("ends the session", scene::expire);
        LeaseState told = term.ended().toCompletableFuture().get();
        check(told == term.state(), "ended() says " + told + ", state() says " + term.state());
        end(scene, election, diary);
    }

    private static void workAgainstLoss(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        LeaderElection election = election(scene, diary);
        AtomicInteger working = new AtomicInteger();
        scene.closingTakesTime();
        scene.start("works", () -> {
            boolean isDone = election.runOnce(term -> {
                check(working.getAndIncrement() == 0, "two work");
                working.decrementAndGet();
            });
            check(!isDone || working.get() == 0, "not done");
        });
        scene.start("ends the session", scene::expire);
        end(scene, election, diary);
    }

    private static void workAgainstInterrupt(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        LeaderElection election = election(scene, diary);
        PlayScene.Actor worker = scene.start(
                "works",
                () -> PlayScene.endsAs(
                        InterruptedException.class,
                        () -> election.run(term -> {
                            var unused = term.ended().toCompletableFuture().get();
                        })));
        worker.interrupt();
        end(scene, election, diary);
    }

    private static void waitAgainstLeave(PlayScene scene) throws InterruptedException, ExecutionException {
        Diary diary = new Diary();
        LeaderElection election = election(scene, diary);
        scene.start("waits", () -> {
            election.join();
            PlayScene.endsAs(IllegalStateException.class, () -> election.awaitLeadership(LONG));
        });
        scene.start("leaves", () -> election.leave().get());
        end(scene, election, diary);
    }

    /** The end of a candidate's candidacy meets the beginning of its work, which never runs beside the next leader. */
    private static void workAgainstEnd(PlayScene scene, Ending ending) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        LeaderElection election = election(client, new Diary());
        AtomicInteger working = new AtomicInteger();
        Diary diary = new Diary();
        LeaderElection rival = election(scene, diary);
        rival.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {
                diary.isRight &= working.get() == 0;
            }

            @Override
            public void termEnded(Term term) {}
        });
        scene.start(
                "works",
                () -> PlayScene.endsAs(
                        ClientClosedException.class,
                        () -> election.runOnce(term -> {
                            working.incrementAndGet();
                            for (int i = 0; i < 2; i++) { // it is slow to end
                                PlayScene.endsAs(InterruptedException.class, () -> TimeUnit.MILLISECONDS.sleep(1));
                            }
                            diary.isRight &= diary.present == null;
                            working.decrementAndGet();
                        })));
        scene.start("ends it", () -> ending.of(election, client));
        rival.join();
        check(rival.awaitLeadership(LONG).isPresent(), "not elected");
        rival.leave().get();
        scene.joinAll();
        check(diary.isRight && diary.present == null, "told wrongly, or beside the work");
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** What a schedule plays: two or three threads, each of which does one or two things. */
record Play(String name, Plot plot) {
    /** A play that fails in some schedules, to test that a failure is found. */
    static final Play LOSES_UPDATES = new Play("loses-updates", scene -> {
        AtomicInteger updates = new AtomicInteger();
        for (String name : List.of("one", "two", "three")) {
            scene.start(name, () -> updates.set(updates.get() + 1));
        }
        scene.joinAll();
        PlayScene.check(updates.get() > 1, "two updates are lost");
    });

    private static final long WARM_UP_MILLIS = 20_000;

    /** The code of a play. When it begins, the server has no locks. */
    @FunctionalInterface
    interface Plot {
        void play(PlayScene scene) throws InterruptedException, ExecutionException;
    }

    static List<Play> all() {
        return Stream.of(
                        EngineAlone.ALL,
                        Grants.ALL,
                        Leases.ALL,
                        Closings.ALL,
                        Elections.ALL,
                        ForeignLocks.ALL,
                        Clients.ALL)
                .flatMap(List::stream)
                .toList();
    }

    /**
     * Plays once without Fray, so that all classes are loaded: loading a class takes more steps than everything that a
     * schedule is about. The time is limited, in case the play does not end.
     */
    void warmUp() {
        Thread once = new Thread(() -> {
            try {
                play();
            } catch (AssertionError | IllegalStateException e) {
                // The schedules under Fray will find the failure, too.
            }
        });
        once.setDaemon(true);
        once.start();
        try {
            once.join(WARM_UP_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void play() {
        PlayScene scene = new PlayScene();
        try {
            plot.play(scene);
            scene.end();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(name + " failed", e);
        }
    }
}

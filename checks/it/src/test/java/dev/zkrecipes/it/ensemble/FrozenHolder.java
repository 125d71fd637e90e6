// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import static dev.zkrecipes.test.internal.Soon.await;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.internal.FrozenJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Stops a process in the middle of a long stay until the lock is another's, and lets it do its late write. */
record FrozenHolder(ZooKeeperClient observer, List<Process> processes, List<Diary> diaries, Random random)
        implements Trouble.Step {

    /** Again, if it was the end of the stay, and the write was on its way already. */
    @Override
    public void run() {
        await().atMost(Duration.ofMinutes(3)).until(this::tryToFreezeHolder);
    }

    private boolean tryToFreezeHolder() throws IOException {
        int victim = random.nextInt(processes.size());
        Optional<Diary.Stay> staying = diaries.get(victim).stay();
        return staying.isPresent() && freeze(victim, staying.get());
    }

    private boolean freeze(int victim, Diary.Stay stay) throws IOException {
        try (FrozenJvm frozen = FrozenJvm.freeze(processes.get(victim))) {
            Optional<Participant> held = holder(stay.way());
            if (held.isEmpty() || !held.get().owner().equals(CountingProcess.label(victim))) {
                return false; // it went on before it was stopped
            }
            Trouble.say("stops process " + victim + ", which holds " + stay.way() + " (" + frozen + ")");
            String node = held.get().node();
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> holder(stay.way())
                            .filter(next -> !next.node().equals(node))
                            .isPresent());
        }
        await().atMost(Duration.ofMinutes(1))
                .until(() -> diaries.get(victim).outcome(stay).isPresent());
        return diaries.get(victim).outcome(stay).equals(Optional.of(Write.Outcome.REFUSED));
    }

    private Optional<Participant> holder(Way way) {
        try {
            return way.lock(observer).participants().stream()
                    .filter(Participant::holding)
                    .findFirst();
        } catch (LockConnectionException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts this thread", e);
        }
    }
}

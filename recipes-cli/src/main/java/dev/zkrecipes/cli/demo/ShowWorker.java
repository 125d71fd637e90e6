// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Acts, again and again, and keeps the ledger. */
final class ShowWorker implements WorkerBody {
    /** The demo kills an idling worker long before that. */
    private static final Duration IDLE = Duration.ofMinutes(1);

    private final Show show;

    ShowWorker(Show show) {
        this.show = show;
    }

    @Override
    public void run(ZooKeeperClient client, String lockPath, Path folder, Orders orders, Reporter reporter)
            throws InterruptedException, IOException {
        Show.Player player = show.player(client, lockPath, folder);
        Ledger ledger = new Ledger(folder);
        while (!orders.isStopped()) {
            boolean idle = orders.takeIdle();
            Show.Act act = player.next(idle);
            reporter.say(Event.Kind.WAITING, Map.of());
            long asked = System.nanoTime();
            try (Lease lease = orders.interruptibly(act.lock()::acquire)) {
                long waited = System.nanoTime() - asked;
                long token = lease.fencingToken();
                Presence presence = Presence.begin(ledger, act.share());
                try {
                    reporter.say(Event.Kind.GRANTED, Map.of("token", token, "waited", waited));
                    if (idle) {
                        reporter.say(Event.Kind.IDLING, Map.of("token", token));
                        orders.pause(IDLE);
                    }
                    act.work().run(lease, presence);
                } finally {
                    presence.end();
                }
                reporter.say(Event.Kind.RELEASING, Map.of());
            } catch (LockLostException e) {
                reporter.say(Event.Kind.LOST, Map.of()); // before anything was written
            }
            orders.pause(Duration.ofMillis(ThreadLocalRandom.current().nextInt(2, 20)));
        }
    }
}

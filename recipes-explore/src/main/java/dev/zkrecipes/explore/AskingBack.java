// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks the holders of a lock, or one participant, to release it. Each such request must end, and a node that is
 * reported as gone must be gone. {@link Schedule} finds requests that do not end.
 */
final class AskingBack {
    private final Schedule schedule;
    private final Actor actor;
    private final BlockingCalls calls;
    private final ZooKeeperClient client;

    AskingBack(Schedule schedule, Actor actor, BlockingCalls calls, ZooKeeperClient client) {
        this.schedule = schedule;
        this.actor = actor;
        this.calls = calls;
        this.client = client;
    }

    /** Blocks until the requests are written. */
    void ask(InterProcessLock lock) throws InterruptedException {
        Optional<Duration> grace = actor.choices().chance(600) ? Optional.of(actor.duration(64)) : Optional.empty();
        for (Revocation revocation : actor.choices().chance(500) ? askHolders(lock, grace) : askOne(lock, grace)) {
            follow(revocation, grace.isPresent());
        }
    }

    private List<Revocation> askHolders(InterProcessLock lock, Optional<Duration> grace) throws InterruptedException {
        actor.tell("asks the holders of " + lock.path() + " to give it back, " + describe(grace));
        return calls.timed(BlockingCalls.ANSWER, () -> revoker(grace).request(lock));
    }

    private List<Revocation> askOne(InterProcessLock lock, Optional<Duration> grace) throws InterruptedException {
        actor.tell("looks who takes part in " + lock.path());
        List<Participant> all = calls.timed(BlockingCalls.ANSWER, lock::participants);
        if (all.isEmpty()) {
            return List.of();
        }
        Participant one = all.get(actor.choices().next(all.size()));
        actor.tell("asks " + path(one) + " to give it back, " + describe(grace));
        return List.of(calls.timed(BlockingCalls.ANSWER, () -> revoker(grace).request(one)));
    }

    private Revoker revoker(Optional<Duration> grace) {
        Revoker asking = new Revoker(client);
        return grace.map(asking::withGrace).orElse(asking);
    }

    private static String describe(Optional<Duration> grace) {
        return grace.map(time -> "within " + time).orElse("whenever it likes");
    }

    private void follow(Revocation revocation, boolean mayBreak) {
        String node = path(revocation.participant());
        schedule.keep(revocation.outcome().handle((how, failure) -> {
            requireTrue(node, how, failure, mayBreak);
            return null;
        }));
        if (actor.choices().chance(150)) {
            actor.scheduler().after(actor.duration(64), () -> {
                actor.tell("no longer follows " + node);
                revocation.close();
            });
        }
    }

    private void requireTrue(
            String node, @Nullable RevocationOutcome how, @Nullable Throwable failure, boolean mayBreak) {
        actor.tell("knows of " + node + ": " + (how == null ? failure : how));
        if (how == null) {
            if (!(failure instanceof CancellationException) && !schedule.isClosed(actor)) {
                actor.turnedAway("a request to give a lock back has an outcome", failure);
            }
        } else if (schedule.ensemble().committed().exists(node)) {
            schedule.judge()
                    .accuse("a node that is said to be gone is gone", actor.name() + " is told " + how + " of " + node);
        } else if (how == RevocationOutcome.BROKEN && !mayBreak) {
            schedule.judge()
                    .accuse("a request without a grace period breaks nothing", actor.name() + " has broken " + node);
        }
    }

    /** Whether a node with this data carries a request to release it; see docs/versions.md. */
    static boolean isAsked(byte[] data) {
        return marks(data).findAny().isPresent();
    }

    /** Whether one of the requests in this data deletes the node when its grace period has elapsed. */
    static boolean mayBeBroken(byte[] data) {
        return marks(data).anyMatch(mark -> !mark.matches("\\S+ - .*"));
    }

    private static Stream<String> marks(byte[] data) {
        return new String(data, StandardCharsets.UTF_8).lines().filter(line -> line.startsWith("revoke="));
    }

    private static String path(Participant participant) {
        return participant.path() + "/" + participant.node();
    }
}

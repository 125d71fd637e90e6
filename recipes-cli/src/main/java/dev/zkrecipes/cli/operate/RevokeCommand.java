// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.Recipe;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code zklock revoke}: asks the holders of a lock to give it back. With {@code --wait} or {@code --grace} it also
 * waits for them; with {@code --grace} it breaks the leases that are not given back in time.
 */
@Command(
        name = "revoke",
        header = "Asks the holders of a lock to give it back.",
        description = {
            "A holder need not obey: zklock run does with --on-revoke=term, a program does if it listens for requests. --grace "
                    + "breaks a lease that is not given back in time: zklock deletes its node, the next in the queue gets the lock, "
                    + "and the holder hears of the loss.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        modelTransformer = ConnectOptions.OfExistingNodes.class,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:asked; with --wait or --grace: no asked holder still holds the lock",
            "1:--wait is over, and an asked holder still holds the lock",
            "64:the command line is wrong; nothing was sent",
            "65:zklock cannot tell who holds the lock, or cannot ask the holders",
            "69:no server could be reached",
            "77:no right to read or write the nodes"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock revoke /locks/nightly",
            "  zklock revoke --wait 60 /locks/nightly",
            "  zklock revoke --grace 30 /locks/nightly && ./deploy",
            "  zklock revoke --node NODE /semaphores/imports"
        })
public final class RevokeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectOptions connection = new ConnectOptions();

    @Mixin
    private Targets targets = new Targets();

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "Break what is not given back by then, and wait until it is. Default: break nothing.")
    private @Nullable Duration grace;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "Wait until the lock is given back, but no longer than this. Default: ask and exit.")
    private @Nullable Duration wait;

    RevokeCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        if (grace != null && wait != null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--grace and --wait exclude each other: --grace already limits the wait; give one of them");
        }
        targets.check();
        try (ZooKeeperClient client = connection.open()) {
            PathView lock = targets.look(client);
            List<Place> places = targets.in(lock);
            if (lock.recipe() == Recipe.CURATOR_SEMAPHORE || lock.recipe() == Recipe.LATCH) {
                throw new LockException(
                        "nobody listens for requests at " + targets.path()
                                + ": Curator's semaphores and leader latches do not support them; stop the holder, or use zklock break");
            }
            List<Revocation> asked = places.isEmpty() ? List.of() : ask(client, lock, places);
            if (asked.isEmpty()) {
                say(targets.path() + ": nobody holds it");
            }
            return follow(asked);
        }
    }

    /** Sends a request to each named node; without names, to all holders at the time of sending. */
    private List<Revocation> ask(ZooKeeperClient client, PathView lock, List<Place> places)
            throws InterruptedException {
        Revoker asking = new Revoker(client);
        Revoker revoker = grace == null ? asking : asking.withGrace(grace);
        if (!targets.areNamed()) {
            return revoker.request(lockOf(client, lock));
        }
        List<Revocation> asked = new ArrayList<>();
        for (Place place : places) {
            asked.add(revoker.request(participant(place, lock.places().indexOf(place))));
        }
        return asked;
    }

    /** Creates a lock object through which all holders can be asked. Any mode and any number of permits will do. */
    private static InterProcessLock lockOf(ZooKeeperClient client, PathView lock) {
        return switch (lock.recipe()) {
            case MUTEX -> new InterProcessMutex(client, lock.path());
            case READ_WRITE -> new InterProcessReadWriteLock(client, lock.path()).readLock();
            case SEMAPHORE ->
                new InterProcessSemaphore(
                                client, lock.path(), lock.limit().orElseThrow().configured())
                        .permits(1);
            case NONE, LATCH, CURATOR_SEMAPHORE, MIXED, UNKNOWN ->
                throw new IllegalArgumentException("no lock of ours: " + lock.recipe());
        };
    }

    private Participant participant(Place place, int position) {
        long created = place.stat().map(Stat::getCtime).orElse(System.currentTimeMillis());
        return new Participant(
                targets.path(),
                place.node().name(),
                place.node().kind(),
                place.node().payload(),
                place.owner(),
                place.stat().map(Stat::getEphemeralOwner).orElse(0L),
                Duration.ofMillis(Math.max(0, System.currentTimeMillis() - created)),
                position,
                place.state() == State.HOLDS);
    }

    /** Reports the requests, and waits for their outcomes if the user wants that. Returns the exit code. */
    private int follow(List<Revocation> asked) throws InterruptedException {
        long begin = System.nanoTime();
        for (Revocation revocation : asked) {
            say("asked " + describe(revocation) + " to give " + targets.path() + " back"
                    + (grace == null ? "" : ", or lose it in " + Seconds.show(grace) + " s"));
        }
        if (grace == null && wait == null) {
            return ExitCodes.OK;
        }
        int holding = 0;
        for (Revocation revocation : asked) {
            Optional<RevocationOutcome> outcome = revocation.await(remaining(begin));
            Duration after = Duration.ofNanos(System.nanoTime() - begin);
            say(describe(revocation) + " "
                    + outcome.map(RevokeCommand::describe).orElse("still holds it") + " after " + Seconds.show(after)
                    + " s");
            holding += outcome.isPresent() ? 0 : 1;
        }
        return holding == 0 ? ExitCodes.OK : ExitCodes.FAILED;
    }

    /**
     * Returns how much longer to wait. There is no limit with {@code --grace}: breaking a lease always has an outcome,
     * even if it takes a new session.
     */
    private Duration remaining(long begin) {
        if (wait == null) {
            return Duration.ofMillis(Integer.MAX_VALUE);
        }
        Duration left = wait.minusNanos(System.nanoTime() - begin);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private static String describe(RevocationOutcome outcome) {
        return switch (outcome) {
            case GIVEN_BACK -> "gave it back";
            case BROKEN -> "did not give it back: its lease was broken";
            case GONE_ALREADY -> "had given it back before it was asked";
        };
    }

    private static String describe(Revocation revocation) {
        Participant holder = revocation.participant();
        return Targets.describe(holder.owner(), holder.node());
    }

    private void say(String line) {
        spec.commandLine().getOut().println(line);
    }
}

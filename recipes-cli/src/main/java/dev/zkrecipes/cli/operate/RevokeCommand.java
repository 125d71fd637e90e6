// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPath;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code zklock revoke}: asks those who hold a lock to give it back. */
@Command(
        name = "revoke",
        header = "Asks those who hold a lock to give it back.",
        description = {
            "A holder need not listen: zklock run does unless told otherwise, a program does if it registered for it. With --grace its lease is broken after that time: its node is deleted, the next in "
                    + "the queue gets the lock, and the holder hears of the loss.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:asked; with --wait or --grace: nobody who was asked holds it any more",
            "1:--wait is over and somebody still holds it",
            "64:the command line is wrong; nothing was sent",
            "65:it cannot be told who holds it, or its holders cannot be asked",
            "69:no server in reach",
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

    @Parameters(paramLabel = "PATH", arity = "1", converter = LockPath.class, description = "The path of the lock.")
    private String path = "/";

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "Break what is not given back by then, and stay until it is. Default: break nothing.")
    private @Nullable Duration grace;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "Stay until it is given back, for so long at most. Default: ask and go.")
    private @Nullable Duration wait;

    @Option(
            names = "--node",
            paramLabel = "NODE",
            description = "Ask this node only, as zklock ls shows it; may be repeated. Default: all holders.")
    private List<String> nodes = new ArrayList<>();

    /** Made by the command line. */
    public RevokeCommand() {}

    /**
     * Asks.
     *
     * @return the exit code
     * @throws InterruptedException if the thread is interrupted
     */
    @Override
    public Integer call() throws InterruptedException {
        if (grace != null && wait != null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--grace and --wait exclude each other: with --grace it is over when the grace is; take one of them");
        }
        ZooKeeperClientBuilder builder = connection.client().closeOnShutdown();
        try (ZooKeeperClient client = connection.open(builder, ConnectOptions.CONNECT_LIMIT)) {
            LockView lock = LiveTree.look(client, ConnectOptions.CONNECT_LIMIT, path);
            List<Place> targets = Targets.in(lock, nodes);
            if (lock.recipe() == Recipe.CURATOR_SEMAPHORE) {
                throw new LockException("nobody listens for requests at " + path
                        + ": Curator's semaphores have none; stop the holder, or see zklock break");
            }
            List<Revocation> asked = targets.isEmpty() ? List.of() : ask(client, lock, targets);
            if (asked.isEmpty()) {
                say(path + ": nobody holds it");
            }
            return follow(asked);
        }
    }

    /** The holders in one request, those of the moment it is sent; nodes that were named one by one. */
    private List<Revocation> ask(ZooKeeperClient client, LockView lock, List<Place> targets)
            throws InterruptedException {
        Revoker revoker = new Revoker(client);
        if (nodes.isEmpty()) {
            InterProcessLock held = lockOf(client, lock);
            return grace == null ? revoker.request(held) : revoker.request(held, grace);
        }
        Instant now = Instant.now();
        List<Revocation> asked = new ArrayList<>();
        for (Place place : targets) {
            Participant participant = participant(place, now);
            asked.add(grace == null ? revoker.request(participant) : revoker.request(participant, grace));
        }
        return asked;
    }

    private static InterProcessLock lockOf(ZooKeeperClient client, LockView lock) {
        return switch (lock.recipe()) {
            case MUTEX -> new InterProcessMutex(client, lock.path());
            case READ_WRITE -> new InterProcessReadWriteLock(client, lock.path()).readLock();
            case SEMAPHORE ->
                new InterProcessSemaphore(
                                client, lock.path(), lock.limit().orElseThrow().configured())
                        .permits(1);
            case NONE, CURATOR_SEMAPHORE, MIXED, UNKNOWN ->
                throw new IllegalArgumentException("no lock of ours: " + lock.recipe());
        };
    }

    private Participant participant(Place place, Instant now) {
        return new Participant(
                path,
                place.node(),
                place.kind(),
                place.payload(),
                PlainText.of(place.data().owner()),
                place.origin().session(),
                place.age(now),
                place.position(),
                place.holds());
    }

    private int follow(List<Revocation> asked) throws InterruptedException {
        long begin = System.nanoTime();
        for (Revocation revocation : asked) {
            say("asked " + describe(revocation) + " to give " + path + " back"
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

    /** With a grace there is an outcome in any case, if it takes a new session to break the lease. */
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
        return PlainText.of(holder.owner()) + " (" + PlainText.of(holder.node()) + ")";
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}

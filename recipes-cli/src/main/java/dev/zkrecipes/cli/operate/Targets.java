// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The nodes that {@code revoke} and {@code break} act on: those of all holders of PATH, or the named ones. A mixin for
 * picocli.
 */
final class Targets {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Parameters(
            paramLabel = "PATH",
            arity = "1",
            converter = LockPathConverter.class,
            description = "The path of the lock.")
    private String path = "/";

    @Option(
            names = "--node",
            paramLabel = "NODE",
            description = "Only this node, as zklock ls shows it; may be repeated. Default: the nodes of all holders.")
    private List<String> names = new ArrayList<>();

    String path() {
        return path;
    }

    /** Refuses an empty node name, before anything is sent. */
    void check() {
        if (names.contains("")) {
            throw new ParameterException(
                    spec.commandLine(), "--node has an empty name: give one that zklock ls shows, or leave it out");
        }
    }

    /** Whether the command line names nodes, rather than meaning all holders. */
    boolean areNamed() {
        return !names.isEmpty();
    }

    /** Reads the queue at the path. */
    PathView look(ZooKeeperClient client) throws InterruptedException {
        return Tree.read(new Reads(client, false), path, false).lock().view();
    }

    /**
     * Picks the nodes from the queue.
     *
     * @param lock the view of the path
     * @throws LockException if a named node does not exist, or if the nodes do not show who holds the lock
     */
    List<Place> in(PathView lock) {
        if (names.isEmpty()) {
            requireKnownHolders(lock);
            return lock.places().stream()
                    .filter(place -> place.state() == State.HOLDS)
                    .toList();
        }
        List<Place> named = new ArrayList<>();
        for (String name : names) {
            named.add(lock.places().stream()
                    .filter(place -> place.node().name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new LockException("no node " + PlainText.of(name) + " stands in the queue of "
                            + path + ": it is gone, or was never there; see zklock ls " + path)));
        }
        return named;
    }

    private void requireKnownHolders(PathView lock) {
        boolean known = switch (lock.recipe()) {
            case NONE, MUTEX, LATCH, READ_WRITE, CURATOR_SEMAPHORE -> true;
            case SEMAPHORE -> lock.limit().isPresent();
            case MIXED, UNKNOWN -> false;
        };
        if (!known) {
            throw new LockException("zklock cannot tell who holds " + path
                    + ": name the nodes with --node, as zklock ls " + path + " shows them");
        }
    }

    /** Describes a holder or a waiter to people. */
    static String describe(String owner, String node) {
        return PlainText.of(owner) + " (" + PlainText.of(node) + ")";
    }

    static String describe(Place place) {
        return describe(place.owner(), place.node().name());
    }
}

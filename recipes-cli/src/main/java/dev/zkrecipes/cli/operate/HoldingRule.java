// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.Kind.Named;
import dev.zkrecipes.core.spi.LockNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who holds, in one pass over a queue of any length. The rules are those of {@code docs/versions.md}, and agree with
 * {@link dev.zkrecipes.core.InterProcessLock#participants()}: nodes of one number do not stand in front of each other
 * (a writer that took the read lock has two), and a node whose number is out of range holds nothing.
 */
final class HoldingRule {
    private final SeenRecipe recipe;
    private final Optional<Limit> limit;

    // Of the nodes so far whose number is below that of the present one.
    private boolean anybody;
    private boolean writer;
    private long permits;

    private HoldingRule(SeenRecipe recipe, Optional<Limit> limit) {
        this.recipe = recipe;
        this.limit = limit;
    }

    /**
     * Says of each node how it stands.
     *
     * @param queue the nodes of one recipe, in order
     * @param limit of a semaphore, if it is known
     */
    static List<Standing> apply(SeenRecipe recipe, List<Named> queue, Optional<Limit> limit) {
        return new HoldingRule(recipe, limit).walk(queue);
    }

    private List<Standing> walk(List<Named> queue) {
        List<Standing> standings = new ArrayList<>(queue.size());
        int begin = 0;
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).node().number() != queue.get(begin).node().number()) {
                queue.subList(begin, i).forEach(this::pass);
                begin = i;
            }
            standings.add(standing(queue.get(i)));
        }
        return standings;
    }

    private void pass(Named named) {
        anybody = true;
        writer |= named.kind() == Kind.WRITE;
        permits += permits(named);
    }

    private Standing standing(Named named) {
        return switch (recipe) {
            case MUTEX -> ifHolding(named, !anybody);
            case READ_WRITE -> ifHolding(named, named.kind() == Kind.READ ? !writer : !anybody);
            case SEMAPHORE ->
                limit.map(found -> ifHolding(named, fits(named, found))).orElse(Standing.UNKNOWN);
            // A lease that is there is held; the one that may still wait is known from elsewhere.
            case CURATOR_SEMAPHORE -> Standing.HOLDS;
            case NONE, MIXED, UNKNOWN -> Standing.UNKNOWN;
        };
    }

    /** What asks for more than the limit was let in before the limit was lowered; nobody else may stay. */
    private boolean fits(Named named, Limit found) {
        int own = permits(named);
        return own > found.current() || permits + own <= found.current();
    }

    private static Standing ifHolding(Named named, boolean granted) {
        LockNode node = named.node();
        return granted && node.hasOrdinaryNumber() ? Standing.HOLDS : Standing.WAITS;
    }

    static int permits(Named named) {
        return named.kind() == Kind.PERMITS
                ? Limit.permits(named.node().payload()).orElseThrow()
                : 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.queue.RuleVersion;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The requests of this client that wait in the queue of one lock path, and what they know of it together: the {@link
 * SeenQueue}. Each has a {@link QueuePlace}, and a {@link ServingOrder} says for which of them to decide.
 *
 * <p>Confined to the engine thread.
 */
final class QueueView implements QueuePlace.View {
    private final Session session;
    private final SeenQueue seen;
    private final Runnable onEmpty;
    private final Set<QueuePlace> places = new LinkedHashSet<>();
    private final ServingOrder servedInOrder;
    private @Nullable RuleWatch ruleWatch;
    private @Nullable RuleVersion decidedBy; // none before a list had a rule

    /**
     * Begins with a list that was taken just now.
     *
     * @param onEmpty run when nobody waits here any more
     */
    QueueView(Session session, String path, ChildrenSnapshot list, Runnable onEmpty) {
        this.session = session;
        this.seen = new SeenQueue(session, path, list);
        this.onEmpty = onEmpty;
        this.servedInOrder = new ServingOrder(seen);
        noteRule();
    }

    /** Takes a list that was taken just now. It may bring a new rule before the watch of the rule does. */
    void accept(ChildrenSnapshot taken) {
        seen.accept(taken);
        noteRule();
    }

    // ---- The requests that wait.

    /**
     * Gives a node of ours, which is in the list, a place here. Its {@linkplain QueuePlace#watch watches} are to begin
     * at once. No decision is made for it before it {@linkplain QueuePlace#ask asks}.
     */
    QueuePlace enter(LockSpec spec, OwnNode node, LockNode self, Waiter waiter) {
        ServingOrder order = spec.isFifo() ? servedInOrder : new ServingOrder(seen);
        QueuePlace place = new QueuePlace(this, seen, order, spec, node, self, waiter);
        places.add(place);
        return place;
    }

    @Override
    public boolean has(QueuePlace place) {
        return places.contains(place);
    }

    @Override
    public boolean remove(QueuePlace place) {
        return places.remove(place);
    }

    @Override
    public void endIfEmpty() {
        if (places.isEmpty()) {
            if (ruleWatch != null) {
                session.watches().unsubscribeLater(seen.path(), ruleWatch);
                ruleWatch = null;
            }
            onEmpty.run();
        }
    }

    // ---- The rule, if it is shared.

    @Override
    public void watchRule() {
        if (ruleWatch == null) {
            ruleWatch = new RuleWatch();
            session.watches().subscribe(seen.path(), ruleWatch);
        }
    }

    /** Another rule than before puts all in doubt. A list for requests without a rule lacks it, and changes nothing. */
    private void noteRule() {
        Optional<RuleVersion> listed = seen.rule().map(rule -> RuleVersion.of(rule.stat()));
        if (listed.isPresent() && !listed.get().equals(decidedBy)) {
            boolean isNew = decidedBy != null;
            decidedBy = listed.get();
            if (isNew) {
                putInDoubt();
            }
        }
    }

    private void putInDoubt() {
        List.copyOf(places).forEach(place -> place.waiter().onDoubt());
    }

    /** Watches the data of the path, by which the drivers decide. */
    private final class RuleWatch implements WatchRegistry.Subscriber {
        @Override
        public void onRead(String rulePath, Content content) {
            if (decidedBy != null && !decidedBy.equals(RuleVersion.of(content.stat()))) {
                putInDoubt();
            }
        }

        /** Our nodes are gone too then, and their own watches tell. */
        @Override
        public void onGone(String rulePath) {
            ruleWatch = null;
        }

        @Override
        public void onRefused(String rulePath, Answer<?> answer) {
            ruleWatch = null;
            // Each is told by an error of its own, which gets the stack trace of its thread.
            List.copyOf(places)
                    .forEach(place -> place.waiter().fail(ZooKeeperErrors.of(rulePath, "watch " + rulePath, answer)));
        }
    }
}

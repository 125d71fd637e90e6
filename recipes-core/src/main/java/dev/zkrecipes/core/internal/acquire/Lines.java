// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.node.Succession;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The held nodes that the requests of a {@link LocalQueue} are served from, and the shared rule that they are held
 * under, if there is one. Confined to the engine thread, but for {@link #isEmpty}.
 */
final class Lines {
    private final LockSpec spec;
    private final Runnable onRuleRead;
    private final Map<Succession, Line> lines = new LinkedHashMap<>();
    private volatile boolean empty = true;
    private @Nullable RuleSight rule;

    /**
     * Begins without any.
     *
     * @param onRuleRead run after each read of the shared rule
     */
    Lines(LockSpec spec, Runnable onRuleRead) {
        this.spec = spec;
        this.onRuleRead = onRuleRead;
    }

    /** Whether no node of this client holds the lock. Any thread. */
    boolean isEmpty() {
        return empty;
    }

    void add(Line line) {
        lines.put(line.holders(), line);
        empty = false;
    }

    /** Takes out the line of these holders, which are over; null if it is unknown. */
    @Nullable
    Line remove(Succession holders) {
        Line over = lines.remove(holders);
        empty = lines.isEmpty();
        return over;
    }

    /** Watches all nodes for requests to give the lock back. */
    void watch() {
        lines.values().forEach(Line::watch);
    }

    /** Whether the node may pass to another holder now, under the rule of now. */
    boolean mayPass(Succession holders) {
        Line line = lines.get(holders);
        return line != null && holders.mayPass() && isUnderItsRule(line);
    }

    /** What was granted before a change of the rule might not be granted after it. */
    private boolean isUnderItsRule(Line line) {
        return !spec.hasSharedRule() || line.wasGrantedBy(ruleNow());
    }

    /** Whether these nodes suffice for so many requests, none of which a node of its own would serve sooner. */
    boolean suffice(int waiting) {
        int places = 0;
        for (Succession holders : lines.keySet()) {
            places += holders.left();
        }
        return places >= waiting && keepOut();
    }

    /** Whether no newcomer is granted as long as these nodes are there, whatever else holds the lock. */
    private boolean keepOut() {
        Optional<Content> data = ruleNow();
        if (lines.isEmpty() || (spec.hasSharedRule() && data.isEmpty())) {
            return false;
        }
        List<LockNode> own = new ArrayList<>();
        for (Line line : lines.values()) {
            if (!line.holders().isOver()) {
                own.add(spec.parseOwn(line.node().node().name()));
            }
        }
        own.sort(null);
        return spec.decide(spec.driverUnder(data.map(Content::data).orElse(null)), own, spec.hypotheticalLast())
                instanceof Decision.WaitFor;
    }

    /** The only one, if it alone keeps newcomers out by a rule that cannot change; otherwise null. */
    @Nullable
    Line only() {
        if (lines.size() != 1 || spec.hasSharedRule() || !keepOut()) {
            return null;
        }
        return lines.values().iterator().next();
    }

    // ---- The rule, if it is shared.

    /** Watches the rule in the newest session, as long as there are any lines. */
    void seeRule() {
        if (!spec.hasSharedRule() || lines.isEmpty()) {
            return;
        }
        List<Line> all = List.copyOf(lines.values());
        Session newest = all.get(all.size() - 1).session();
        if (rule == null || rule.session() != newest) {
            endRule();
            RuleSight begun = new RuleSight(newest, spec.path(), onRuleRead);
            rule = begun;
            begun.begin();
        }
    }

    void endRuleIfEmpty() {
        if (lines.isEmpty()) {
            endRule();
        }
    }

    private void endRule() {
        if (rule != null) {
            rule.end();
            rule = null;
        }
    }

    private Optional<Content> ruleNow() {
        return rule == null ? Optional.empty() : rule.now();
    }
}

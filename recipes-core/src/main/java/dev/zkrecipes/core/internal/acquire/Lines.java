// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import com.google.common.base.Preconditions;
import com.google.common.collect.Iterables;
import dev.zkrecipes.core.internal.node.Succession;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.queue.RuleVersion;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The held nodes that the requests of a {@link LocalQueue} are served from, and the shared rule that they are held
 * under, if there is one. Confined to the engine thread, but for {@link #isEmpty} and {@link #onChange}.
 *
 * <p>A semaphore may have thousands of them, and is looked at for each request that comes or is served. So what follows
 * from all of them is found out once for each change, and a node is watched once.
 */
final class Lines {
    private final LockSpec spec;
    private final Runnable onRuleRead;
    private final Map<Succession, Line> lines = new LinkedHashMap<>();
    private final Set<Line> unwatched = new LinkedHashSet<>();
    private final AtomicLong changes = new AtomicLong();
    private volatile boolean empty = true;
    private @Nullable Line newest; // null if it is to be looked for
    private @Nullable KeepOut known;
    private @Nullable RuleSight rule;

    /** Whether newcomers were kept out after so many changes, under a rule. */
    private record KeepOut(boolean isSo, long changes, Optional<RuleVersion> rule) {}

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
        unwatched.add(line);
        newest = line;
        empty = false;
        onChange();
    }

    /** Takes out the line of these holders, which are over; null if it is unknown. */
    @Nullable
    Line remove(Succession holders) {
        Line over = lines.remove(holders);
        if (over != null) {
            unwatched.remove(over);
            newest = over == newest ? null : newest;
        }
        empty = lines.isEmpty();
        return over;
    }

    /** There is one more, or one of them is over, although it is not taken out yet. Any thread. */
    void onChange() {
        changes.incrementAndGet();
    }

    /** Watches all nodes for requests to give the lock back. */
    void watch() {
        while (!unwatched.isEmpty()) {
            Line next = unwatched.iterator().next();
            unwatched.remove(next);
            next.watch();
        }
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
        return haveRoomFor(waiting) && keepOut();
    }

    private boolean haveRoomFor(int waiting) {
        int unserved = waiting;
        Iterator<Succession> next = lines.keySet().iterator();
        while (unserved > 0 && next.hasNext()) {
            unserved -= next.next().left();
        }
        return unserved <= 0;
    }

    /** Whether no newcomer is granted as long as these nodes are there, whatever else holds the lock. */
    private boolean keepOut() {
        Optional<Content> data = ruleNow();
        if (lines.isEmpty() || (spec.hasSharedRule() && data.isEmpty())) {
            return false;
        }
        long count = changes.get(); // before the look at the lines: one of them may end meanwhile
        Optional<RuleVersion> version = data.map(content -> RuleVersion.of(content.stat()));
        KeepOut last = known;
        if (last == null || last.changes() != count || !last.rule().equals(version)) {
            last = new KeepOut(keepOutUnder(data), count, version);
            known = last;
        }
        return last.isSo();
    }

    private boolean keepOutUnder(Optional<Content> data) {
        List<LockNode> own = new ArrayList<>(lines.size());
        for (Line line : lines.values()) {
            if (!line.holders().isOver()) {
                own.add(line.queued());
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
        Session session = newest().session();
        if (rule == null || rule.session() != session) {
            endRule();
            RuleSight begun = new RuleSight(session, spec.path(), onRuleRead);
            rule = begun;
            begun.begin();
        }
    }

    private Line newest() {
        if (newest == null) {
            newest = Iterables.getLast(lines.values(), null);
        }
        return Preconditions.checkNotNull(newest, "no lines");
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.ask;

import com.google.common.collect.Iterables;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * A query for the participants of a lock at one moment. It lists the path, then reads nodes in the list. The list shows
 * which nodes hold, so a query for holders reads only these, and those that may hold by an earlier rule. A query for
 * all participants reads all nodes, because the label of an owner is in its node.
 *
 * <p>Each node is read by a request of its own: any client may have put any amount of data into a node, and an answer
 * that is too large costs all locks of this client their connection. Only a limited number of reads is under way at a
 * time, so that the other requests of the session, such as the checks of its leases, do not wait behind ten thousand
 * reads.
 *
 * <p>Used by one request, on the engine thread.
 */
public final class ParticipantQuery {
    static final int UNDER_WAY = 100; // reads at the same time

    /**
     * A participant, with the content of its node. The content is empty if the node may not be read, or was not read.
     */
    public record Seen(Participant participant, Optional<Content> content) {}

    private final EngineScheduler clock;
    private final LockSpec spec;
    private final OneShotRequest<List<Seen>> request;
    private final boolean holdersOnly;
    private final int most; // maximum number of nodes to read
    private final Set<LockNode> maybeHolding = new HashSet<>(); // nodes that may hold by an earlier rule
    private long ruleChangedAt; // zxid of the latest transaction that wrote the rule
    private String place = ""; // see place()
    private final Map<LockNode, Answer<Content>> contents = new HashMap<>(); // answers so far

    private ParticipantQuery(Requests requests, LockSpec spec, boolean holdersOnly, int most) {
        this.clock = requests.scheduler();
        this.spec = spec;
        this.holdersOnly = holdersOnly;
        this.most = most;
        this.request = new OneShotRequest<>(
                requests,
                spec,
                holdersOnly ? "the holders of" : "the participants of",
                (request, session) -> request.list(session, list -> read(session, list)));
    }

    public static ParticipantQuery ofAll(Requests requests, LockSpec spec) {
        return new ParticipantQuery(requests, spec, false, Integer.MAX_VALUE);
    }

    /** Returns a query for holders that reads at most {@code most} nodes, the first ones in the queue. */
    public static ParticipantQuery ofHolders(Requests requests, LockSpec spec, int most) {
        return new ParticipantQuery(requests, spec, true, most);
    }

    public OneShotRequest<List<Seen>> request() {
        return request;
    }

    /** Returns where the first request of this client waits, as in "place 2 of 3, "; empty if none waits. */
    public String place() {
        return place;
    }

    private void read(Session session, ChildrenSnapshot list) {
        LockQueue queue = list.queue(spec);
        List<LockNode> nodes = List.copyOf(queue.nodes()); // a copy: the queue may change before the answers come
        Set<LockNode> holding = queue.holding();
        // The first waiting node of this session.
        int own = Iterables.indexOf(
                nodes, node -> !holding.contains(node) && session.nodes().has(NodeId.in(node.name())));
        place = own < 0 ? "" : "place " + (own + 1) + " of " + nodes.size() + ", ";
        // A node that the present rule does not grant may hold by an earlier rule, if it was created before the rule
        // was changed. Only reading the node shows when it was created.
        if (holdersOnly) {
            list.rule(spec.path()).ifPresent(rule -> {
                ruleChangedAt = rule.stat().getMzxid();
                maybeHolding.addAll(queue.holdingByEarlier(rule.data()));
            });
            maybeHolding.removeAll(holding);
        }
        List<LockNode> asked = nodes.stream()
                .filter(node -> !holdersOnly || holding.contains(node) || maybeHolding.contains(node))
                .limit(most)
                .toList();
        Runnable last = () -> complete(nodes, holding);
        if (asked.isEmpty()) {
            last.run();
        }
        Iterator<LockNode> next = asked.iterator();
        for (int i = 0; i < UNDER_WAY; i++) {
            readNext(session, next, asked.size(), last);
        }
    }

    /**
     * Reads one node; the answer triggers the next read. It is also an answer that the node is gone by now, or that it
     * may not be read. Anything else fails the request.
     */
    private void readNext(Session session, Iterator<LockNode> next, int count, Runnable last) {
        if (request.isOver() || !next.hasNext()) {
            return;
        }
        LockNode node = next.next();
        session.zk().read(LockPath.child(spec.path(), node.name()), request.guarded(answer -> {
            if (!answer.isOk() && answer.code() != Code.NONODE && answer.code() != Code.NOAUTH) {
                request.fail("read " + node.name(), answer);
                return;
            }
            contents.put(node, answer);
            if (contents.size() == count) {
                last.run();
            }
            readNext(session, next, count, last);
        }));
    }

    /**
     * Answers the request with the participants in the order of the queue. A node that is gone by now takes no
     * position.
     */
    private void complete(List<LockNode> nodes, Set<LockNode> holding) {
        List<Seen> seen = new ArrayList<>();
        int position = 0;
        for (LockNode node : nodes) {
            Answer<Content> answer = contents.get(node);
            boolean isGone = answer != null && answer.code() == Code.NONODE;
            if (answer != null && !isGone && !cameUnderPresentRule(node, answer)) {
                seen.add(seen(node, answer, position, holding.contains(node)));
            }
            position += isGone ? 0 : 1;
        }
        request.answer(List.copyOf(seen));
    }

    /**
     * Whether a node that the present rule does not grant was created after the latest change of the rule. Then no
     * earlier rule can have granted it either.
     */
    private boolean cameUnderPresentRule(LockNode node, Answer<Content> answer) {
        return maybeHolding.contains(node)
                && answer.isOk()
                && answer.value().stat().getCzxid() > ruleChangedAt;
    }

    private Seen seen(LockNode node, Answer<Content> answer, int position, boolean holds) {
        Content content = answer.valueOrNull();
        Stat stat = content == null ? new Stat() : content.stat();
        // The clocks of the server and of this process may differ, so the age may come out negative.
        Duration age = content == null
                ? Duration.ZERO
                : Duration.between(Instant.ofEpochMilli(stat.getCtime()), clock.wallClock());
        Participant participant = new Participant(
                spec.path(),
                node.name(),
                node.kind(),
                node.payload(),
                content == null ? OwnerLabel.UNKNOWN : OwnerLabel.decode(content.data()),
                stat.getEphemeralOwner(),
                age.isNegative() ? Duration.ZERO : age,
                position,
                holds);
        return new Seen(participant, Optional.ofNullable(content));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.Succession;
import dev.zkrecipes.core.internal.queue.RuleVersion;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A held node of a {@link LocalQueue}. As soon as a request waits for it, it is watched for requests to give the lock
 * back: holders may come and go without any of them listening. The watch stays until the node is gone, which ends it
 * without another request. Confined to the engine thread, but for {@link #serves}.
 */
final class Line implements WatchRegistry.Subscriber {
    private final Succession holders;
    private final Optional<RuleVersion> grantedBy;
    private final Runnable onAsked;
    private volatile boolean watched;
    private boolean subscribed;
    private @Nullable LockNode queued;

    /**
     * A node that was granted just now.
     *
     * @param rule the data of the path that the decision was based on
     * @param onAsked run when the node is seen to carry a request
     */
    Line(HeldNode first, int most, Optional<Content> rule, Succession.Heirs heirs, Runnable onAsked) {
        this.holders = new Succession(first, most, heirs);
        this.grantedBy = rule.map(content -> RuleVersion.of(content.stat()));
        this.onAsked = onAsked;
    }

    Succession holders() {
        return holders;
    }

    HeldNode node() {
        return holders.first();
    }

    /** The node as drivers see it. */
    LockNode queued() {
        LockNode known = queued;
        if (known == null) {
            known = node().spec().parseOwn(node().node().name());
            queued = known;
        }
        return known;
    }

    Session session() {
        return node().session();
    }

    /** Whether it can serve so many, as far as is known, without anything to be done. Any thread. */
    boolean serves(int waiting) {
        return watched && holders.left() >= waiting;
    }

    boolean wasGrantedBy(Optional<Content> rule) {
        return grantedBy.isPresent() && grantedBy.equals(rule.map(content -> RuleVersion.of(content.stat())));
    }

    void watch() {
        if (!watched && !holders.isOver()) {
            watched = true;
            subscribed = true;
            session().watches().subscribe(node().nodePath(), this);
        }
    }

    /** The node is being deleted. */
    void end() {
        Completion.on(holders.gone(), (nothing, failure) -> {
            if (subscribed) {
                subscribed = false;
                session().watches().unsubscribe(node().nodePath(), this);
            }
        });
    }

    @Override
    public void onRead(String path, Content content) {
        boolean isAsked = !RevocationMarks.in(content).isEmpty();
        holders.noteRequests(isAsked);
        if (isAsked) {
            onAsked.run();
        }
    }

    @Override
    public void onGone(String path) {
        subscribed = false;
        node().onNodeGone(); // unless it was given back
    }

    /** Without the right to read the node, requests are not heard in this process; the bound remains. */
    @Override
    public void onRefused(String path, Answer<?> answer) {
        subscribed = false;
    }
}

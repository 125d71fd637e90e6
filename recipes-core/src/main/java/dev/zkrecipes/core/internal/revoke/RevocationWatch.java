// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches a held node for requests to give it back, once its hold wants to hear of them; nothing is read before that. A
 * request is data of the node, so the first read shows what was asked before, and each later one what was asked since,
 * even if the connection was lost in between. It also shows at once that the node was deleted.
 *
 * <p>When the node is released the watch stays until it is gone, which ends it without another request. Confined to the
 * engine thread.
 */
final class RevocationWatch implements WatchRegistry.Subscriber {
    private static final Logger log = LoggerFactory.getLogger(RevocationWatch.class);

    private final HeldNode held;
    private final Consumer<List<RevocationRequest>> onRead;
    private boolean subscribed;

    /** {@code onRead} is told what the node carries, after each read. */
    RevocationWatch(HeldNode held, Consumer<List<RevocationRequest>> onRead) {
        this.held = held;
        this.onRead = onRead;
    }

    void begin() {
        if (!held.hasEnded()) {
            subscribed = true;
            held.session().watches().subscribe(held.nodePath(), this);
        }
    }

    void end() {
        if (held.hasEnded()) {
            // Of a node that has passed on, it completes on the thread that passed it on.
            Completion.on(held.gone(), (nothing, failure) -> held.scheduler().execute(this::unsubscribe));
        } else {
            unsubscribe();
        }
    }

    private void unsubscribe() {
        if (subscribed) {
            subscribed = false;
            held.session().watches().unsubscribe(held.nodePath(), this);
        }
    }

    @Override
    public void onRead(String path, Content content) {
        if (!held.hasEnded()) {
            onRead.accept(RevocationMarks.in(content));
        }
    }

    @Override
    public void onGone(String path) {
        subscribed = false;
        held.onNodeGone();
    }

    @Override
    public void onRefused(String path, Answer<?> answer) {
        subscribed = false;
        log.warn(
                "ZooKeeper refuses to show the lock node {} to its holder ({}), so requests to give the lock back are not"
                        + " seen. Give the client READ rights on its nodes.",
                path,
                answer.code());
    }
}

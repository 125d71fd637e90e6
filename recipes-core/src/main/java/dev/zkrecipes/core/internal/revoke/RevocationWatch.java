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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the node of a grant for requests to give it back, while a hold on it wants to hear of them: nothing is read
 * before that. A request is data of the node, so the first read shows what was asked before, and each later one what was
 * asked since, over lost connections too. It also shows at once that the node was deleted.
 *
 * <p>When the grant is released the watch stays until the node is gone, which ends it without another request. Confined
 * to the engine thread.
 */
public final class RevocationWatch implements WatchRegistry.Subscriber {
    private static final Logger log = LoggerFactory.getLogger(RevocationWatch.class);

    private final HeldNode grant;
    private final Set<RevocationListeners> holds = new LinkedHashSet<>();
    private List<RevocationRequest> requests = List.of();
    private boolean subscribed;

    public RevocationWatch(HeldNode grant) {
        this.grant = grant;
    }

    /** Tells what the node carries now, if that is known, and from now on. */
    public void tell(RevocationListeners hold) {
        if (grant.hasEnded() || !holds.add(hold)) {
            return;
        }
        if (!requests.isEmpty()) {
            hold.onRead(grant, requests);
        }
        if (!subscribed) {
            subscribed = true;
            grant.session().watches().subscribe(grant.nodePath(), this);
        }
    }

    public void forget(RevocationListeners hold) {
        if (holds.remove(hold) && holds.isEmpty() && !grant.hasEnded()) {
            unsubscribe();
        }
    }

    /** The grant has ended. */
    public void end() {
        holds.clear();
        if (subscribed) {
            Completion.on(grant.gone(), (nothing, failure) -> unsubscribe());
        }
    }

    private void unsubscribe() {
        if (subscribed) {
            subscribed = false;
            requests = List.of();
            grant.session().watches().unsubscribe(grant.nodePath(), this);
        }
    }

    @Override
    public void onRead(String path, Content content) {
        if (!grant.hasEnded()) {
            requests = RevocationMarks.in(content);
            List.copyOf(holds).forEach(hold -> hold.onRead(grant, requests));
        }
    }

    @Override
    public void onGone(String path) {
        subscribed = false;
        grant.lose("its node was deleted by somebody else"); // unless it has ended
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

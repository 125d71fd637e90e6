// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.CounterExhaustedException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.ListQuery;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionTask;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.wire.CounterAge;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an attempt does when its number is too near the end of the counter to be granted. It has left the queue. It
 * waits until no node is below the path, starts the counter anew unless another client has done so, and queues again.
 * Meanwhile requests with smaller numbers are served as always.
 *
 * <p>To learn when the path is empty it watches any one node at a time: the path cannot be empty before that is gone.
 * Several locks that are acquired as one are renewed one after the other. Confined to the engine thread.
 */
final class CounterRenewal implements WatchRegistry.DeletionSubscriber {
    private static final Logger log = LoggerFactory.getLogger(CounterRenewal.class);

    /** The attempt, as its renewal sees it. */
    interface Owner {
        /** Others are below the path; returns whether to wait for them. */
        boolean mayWaitForRenewal();

        /** All counters are low. */
        void onRenewed();

        /** A request got no answer, or a refusal: pause and do {@code again}, or fail. */
        void retryOrFail(String what, Answer<?> answer, Runnable again);

        /** Something is wrong that waiting does not fix. */
        void fail(LockException why);
    }

    private final CounterRenewals shared;
    private final List<String> paths;
    private final Session session;
    private final SessionTask<AcquireStep> task;
    private final Owner owner;
    private @Nullable String watched;
    private int current;
    private boolean warned;

    public CounterRenewal(
            CounterRenewals shared, LockGroup group, Session session, SessionTask<AcquireStep> task, Owner owner) {
        this.shared = shared;
        this.paths = group.paths();
        this.session = session;
        this.task = task;
        this.owner = owner;
    }

    public void begin() {
        look();
    }

    /** Waits for nothing any more. */
    public void end() {
        watch(null);
    }

    private String path() {
        return paths.get(current);
    }

    private void look() {
        task.become(AcquireStep.RENEWING);
        ListQuery query = new ListQuery(List.of(new ListQuery.Part(path(), false)));
        session.lists().ask(query, task.inThisState((ChildrenSnapshot list) -> {
            switch (list.code()) {
                case OK -> act(list.names(path()), list.stat(path()).orElseThrow());
                case NONODE -> next();
                default -> owner.retryOrFail("list " + path(), list.answer(), this::look);
            }
        }));
    }

    private void act(List<String> names, Stat parent) {
        if (CounterAge.next(parent) < CounterAge.WORN_OUT) {
            next();
            return;
        }
        for (String name : names) {
            if (!LockNode.isLockForm(name)) {
                fail("the node " + Printable.of(name) + " lies below it: remove that node");
                return;
            }
        }
        if (names.isEmpty() && parent.getNumChildren() > 0) {
            fail("nodes lie below it that are not ephemeral: remove those");
        } else if (names.isEmpty()) {
            renew();
        } else if (owner.mayWaitForRenewal()) {
            String first = LockPath.child(path(), Collections.min(names));
            warn(names.size(), first);
            watch(first);
        }
    }

    private void warn(int nodes, String first) {
        if (!warned) {
            warned = true;
            log.warn(
                    "The sequence counter of {} is nearly used up. It is reset once nobody holds the lock or waits for"
                            + " it; until then, new requests are not admitted. There are still {} nodes, such as {}:"
                            + " release what is held for long.",
                    path(),
                    nodes,
                    Printable.of(first));
        }
    }

    private void renew() {
        shared.renew(session, path(), task.inThisState(answer -> {
            switch (answer.code()) {
                // Or another client joined, or was faster: list again.
                case OK, NOTEMPTY, BADVERSION, NONODE, NODEEXISTS -> look();
                case NOAUTH ->
                    fail(
                            path().equals("/")
                                    ? "it is the root, which cannot be made again"
                                    : "this client may not make it again: give it ADMIN rights on it, and CREATE and"
                                            + " DELETE on " + LockPath.parent(path()));
                default -> owner.retryOrFail("make " + path() + " again", answer, this::look);
            }
        }));
    }

    private void next() {
        current++;
        if (current < paths.size()) {
            look();
        } else {
            owner.onRenewed();
        }
    }

    private void watch(@Nullable String next) {
        String before = watched;
        watched = next;
        if (next != null) {
            session.watches().subscribeToDeletion(next, this);
        }
        if (before != null) {
            session.watches().unsubscribeFromDeletion(before, this);
        }
    }

    @Override
    public void onWatched(String path) {}

    @Override
    public void onGone(String path) {
        watched = null;
        if (task.isIn(AcquireStep.RENEWING)) {
            look();
        }
    }

    @Override
    public void onRefused(String path, Answer<?> answer) {
        watched = null;
        owner.fail(ZooKeeperErrors.of(path(), "watch " + path, answer));
    }

    private void fail(String why) {
        owner.fail(new CounterExhaustedException("the sequence counter of " + path()
                + " is nearly used up, and cannot be reset: " + why + ", or use another path for the lock"));
    }
}

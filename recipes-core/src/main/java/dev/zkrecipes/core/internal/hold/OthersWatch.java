// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notifies, only once, that somebody other than the holder of a node wants its lock. One request lists the path and
 * watches its children: a node that was created before is in the list, and a node that is created later fires the
 * watch.
 *
 * <p>It also notifies if it can no longer know: if the list is refused or its answer lost, and after a reconnect,
 * because the server then reports in any order what has happened meanwhile. So a watch that was lost is not set again.
 * If the watch is still set when the node is released, the deletion of the node fires it, which saves the request to
 * drop it.
 *
 * <p>The data of the node are read for requests to give the lock back only after a while, because that takes one
 * request more. Until then such a request stays unread in the data.
 */
public final class OthersWatch implements Session.Observer, WatchRegistry.Subscriber {
    private final HeldNode held;
    private final Session session;
    private final Runnable told;
    private final Consumer<NodeEvent> onEvent = this::onEvent; // one object: it identifies the watch to drop
    private @Nullable Timer untilRead; // triggers the read of the node for requests to give it back
    private @Nullable Timer untilLook; // triggers the next list
    private boolean isOver;

    /** {@code told} runs on the engine thread, unless the node was released or lost before. */
    public OthersWatch(HeldNode held, Runnable told) {
        this.held = held;
        this.session = held.session();
        this.told = told;
    }

    /** Begins to watch. May be called from any thread. */
    public void begin() {
        held.scheduler().execute(this::beginNow);
    }

    private void beginNow() {
        if (!held.hasEnded()) {
            session.observe(this);
            untilRead = session.afterAWhile(this::read);
            look();
        }
    }

    /**
     * Lists the path and watches its children. Repeated once in a long while: a server does not send an event to a
     * client that may not read the path at that moment, although the watch is then used up.
     */
    private void look() {
        if (!isOver && !held.hasEnded()) {
            untilLook = session.afterALongWhile(this::look);
            session.zk().watchChildren(held.spec().path(), onEvent, this::onListed);
        }
    }

    private void onListed(Answer<List<String>> answer) {
        boolean isGone = answer.isOk() && !answer.value().contains(LockPath.name(held.nodePath()));
        if (isGone || (answer.isUnsettled() && !session.isEnded())) {
            session.zk().dropWatch(held.spec().path(), onEvent); // it may be set, and no deletion of ours would fire it
        }
        if (isGone) {
            held.onNodeGone(); // deleted before the watch was set, so nothing else reports it
        }
        if (isGone || !answer.isOk() || answer.value().stream().anyMatch(this::isOthers)) {
            tell();
        }
    }

    /** Whatever has happened on the path, other nodes may exist now: our own node is not the cause while it is held. */
    private void onEvent(NodeEvent event) {
        tell();
    }

    /**
     * Whether the child is the lock node of somebody else. A child that is no lock node may exist forever, and wants
     * nothing.
     */
    private boolean isOthers(String name) {
        return LockNode.isLockForm(name) && !name.equals(LockPath.name(held.nodePath()));
    }

    private void read() {
        if (!held.hasEnded()) {
            session.watches().subscribe(held.nodePath(), this);
        }
    }

    private void tell() {
        if (isOver) {
            return;
        }
        isOver = true;
        session.ignore(this);
        cancel(untilRead);
        cancel(untilLook);
        if (!held.hasEnded()) {
            told.run();
        }
    }

    private static void cancel(@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    @Override
    public void onConnected() {
        tell();
    }

    @Override
    public void onEnded(ZooKeeperOperations.State state) {
        tell(); // no effect except to end this watch: what the session held is lost
    }

    @Override
    public void onRead(String path, Content content) {
        if (!RevocationMarks.in(content).isEmpty()) {
            tell();
        }
    }

    @Override
    public void onGone(String path) {
        held.onNodeGone();
        tell();
    }

    @Override
    public void onRefused(String path, Answer<?> answer) {
        tell();
    }
}

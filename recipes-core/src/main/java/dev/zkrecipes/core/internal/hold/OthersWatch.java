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
 * Tells once that somebody other than the holder of a node wants its lock. One request lists the path and watches its
 * children: whoever came before that is in the list, and whoever comes after it spends the watch.
 *
 * <p>It also tells if it cannot be known any more: if the list is refused or lost, or after a new connection, in which
 * the server tells in any order what has happened meanwhile. So it needs no watch that is set again. The watch that is
 * still set when the node is released is spent by the deletion of the node, which saves the request to drop it.
 *
 * <p>A request to give the lock back is looked for only once the node was watched for a while, since that takes one
 * request more. It waits in the data of the node until then.
 */
public final class OthersWatch implements Session.Observer, WatchRegistry.Subscriber {
    private final HeldNode held;
    private final Session session;
    private final Runnable told;
    private final Consumer<NodeEvent> onEvent = this::onEvent; // one object, by which the watch is dropped
    private @Nullable Timer untilRead; // until the node is read for requests to give it back
    private boolean isOver;

    /** {@code told} runs on the engine thread, unless the node was released or lost before. */
    public OthersWatch(HeldNode held, Runnable told) {
        this.held = held;
        this.session = held.session();
        this.told = told;
    }

    /** Any thread. */
    public void begin() {
        held.scheduler().execute(this::beginNow);
    }

    private void beginNow() {
        if (!held.hasEnded()) {
            session.observe(this);
            untilRead = session.afterAWhile(this::read);
            session.zk().watchChildren(held.spec().path(), onEvent, this::onListed);
        }
    }

    private void onListed(Answer<List<String>> answer) {
        boolean isGone = answer.isOk() && !answer.value().contains(LockPath.name(held.nodePath()));
        if (isGone || (answer.isUnsettled() && !session.isEnded())) {
            session.zk().dropWatch(held.spec().path(), onEvent); // it may be set, and no deletion of ours spends it
        }
        if (isGone) {
            held.onNodeGone(); // before the watch, so nobody else tells of it
        }
        if (isGone || !answer.isOk() || answer.value().stream().anyMatch(this::isOthers)) {
            tell();
        }
    }

    /** Whatever has happened on the path, others may be there now: our own node is not the cause while it is held. */
    private void onEvent(NodeEvent event) {
        tell();
    }

    /** Children that are no lock nodes may stand there for ever, and want nothing. */
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
        if (untilRead != null) {
            untilRead.cancel();
        }
        if (!held.hasEnded()) {
            told.run();
        }
    }

    @Override
    public void onConnected() {
        tell();
    }

    @Override
    public void onEnded(ZooKeeperOperations.State state) {
        tell(); // no effect but to end: what the session held is lost
    }

    @Override
    public void onRead(String path, Content content) {
        if (!RevocationMarks.in(content).isEmpty()) {
            tell();
        }
    }

    @Override
    public void onGone(String path) {
        tell();
    }

    @Override
    public void onRefused(String path, Answer<?> answer) {
        tell();
    }
}

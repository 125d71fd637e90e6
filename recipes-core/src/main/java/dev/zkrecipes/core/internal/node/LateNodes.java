// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Nodes that were not there when they were looked for after a lost create, and are looked for once more. A committed
 * write of the same session comes after the create in all cases but one: the client has come back to the server that it
 * lost, while a thread of that server stood still with the create in its hands. Only time settles that, so each node
 * rests for one to two session time-outs. Confined to the engine thread.
 */
final class LateNodes {
    private final EngineScheduler scheduler;
    private final Consumer<OwnNode> look;
    private List<OwnNode> resting = List.of(); // for a whole time-out, when the timer runs out
    private List<OwnNode> added = new ArrayList<>();
    private boolean stopped;

    /**
     * Begins with none.
     *
     * @param look looks for a node once more
     */
    LateNodes(EngineScheduler scheduler, Consumer<OwnNode> look) {
        this.scheduler = scheduler;
        this.look = look;
    }

    /** The session of the node lives; its end would delete the node. */
    void add(OwnNode node) {
        if (stopped) {
            return;
        }
        added.add(node);
        if (resting.isEmpty() && added.size() == 1) {
            rest(node);
        }
    }

    private void rest(OwnNode next) {
        scheduler.schedule(Duration.ofNanos(next.session().timeoutNanos()), this::lookForRested);
    }

    private void lookForRested() {
        List<OwnNode> rested = resting;
        resting = added;
        added = new ArrayList<>();
        if (!resting.isEmpty()) {
            rest(resting.get(0));
        }
        rested.stream().filter(node -> !node.session().isEnded()).forEach(look);
    }

    /** Nobody is left to look. */
    void stop() {
        stopped = true;
        resting = List.of();
        added = new ArrayList<>();
    }
}

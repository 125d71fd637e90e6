// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the servers of a client have container nodes. Some that speak ZooKeeper's protocol do not: they say that they
 * do not know the request, or just cut the connection. Since a cut may have many reasons, it counts only if a container
 * is the first that was lost with the connection. It takes {@value #LOSSES} cuts, each within a minute of the last one
 * and no container answered in between, and is forgotten after an hour. Confined to the engine thread.
 */
public final class Containers {
    private static final Logger log = LoggerFactory.getLogger(Containers.class);
    private static final int LOSSES = 3;
    static final Duration LONGEST_BETWEEN = Duration.ofMinutes(1);
    static final Duration KNOWN_FOR = Duration.ofHours(1);

    private final EngineScheduler scheduler;
    private boolean unused;
    private int losses;
    private long lostAt;

    /** Begins without knowledge; {@code unwanted} if persistent nodes are to be made from the start. */
    public Containers(boolean unwanted, EngineScheduler scheduler) {
        this.unused = unwanted;
        this.scheduler = scheduler;
    }

    /** Whether persistent nodes take their place. */
    boolean areUnused() {
        if (losses == LOSSES && hasPassed(KNOWN_FOR)) {
            losses = 0;
        }
        return unused || losses == LOSSES;
    }

    private boolean hasPassed(Duration time) {
        return scheduler.nanoTime() - lostAt > time.toNanos();
    }

    /** A request for a container was answered; {@code cut} if it is the first that was lost with its connection. */
    void note(Answer<?> answer, boolean cut) {
        if (areUnused()) {
            return;
        }
        if (cut) {
            losses = hasPassed(LONGEST_BETWEEN) ? 1 : losses + 1;
            lostAt = scheduler.nanoTime();
        } else if (!answer.isUnsettled()) {
            losses = 0;
            unused = answer.code() == Code.UNIMPLEMENTED;
        }
        if (areUnused()) {
            log.warn(
                    "The servers have no container nodes ({}), so the paths of locks are made of persistent nodes, which nobody"
                            + " removes: delete those that are not used any more, and build the client with persistentPaths().",
                    cut ? "they cut the connection at each request for one" : answer.code());
        }
    }
}

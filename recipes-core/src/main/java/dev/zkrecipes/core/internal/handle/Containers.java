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
 * Tracks whether the servers of a client support container nodes. Some servers that speak ZooKeeper's protocol do not.
 * They reject the request as unknown, or just cut the connection.
 *
 * <p>A cut may have many reasons, so it counts only if the request for a container was the first one lost with the
 * connection. After {@value #LOSSES} such cuts, containers count as unsupported. Each cut has to follow the previous
 * one within a minute, and no request for a container may be answered in between. The conclusion is dropped after an
 * hour. Confined to the engine thread.
 */
public final class Containers {
    private static final Logger log = LoggerFactory.getLogger(Containers.class);
    private static final int LOSSES = 3;
    static final Duration LONGEST_BETWEEN = Duration.ofMinutes(1); // between two cuts in a row
    static final Duration KNOWN_FOR = Duration.ofHours(1);

    private final EngineScheduler scheduler;
    private boolean unused; // for good: a server or the configuration says so
    private int losses; // cuts in a row
    private long lostAt; // the time of the latest cut

    /** If containers are {@code unwanted}, persistent nodes replace them from the start. */
    public Containers(boolean unwanted, EngineScheduler scheduler) {
        this.unused = unwanted;
        this.scheduler = scheduler;
    }

    /** Whether persistent nodes replace containers. */
    boolean areUnused() {
        if (losses == LOSSES && hasPassed(KNOWN_FOR)) {
            losses = 0;
        }
        return unused || losses == LOSSES;
    }

    private boolean hasPassed(Duration time) {
        return scheduler.nanoTime() - lostAt > time.toNanos();
    }

    /**
     * Records the answer to a request for a container. {@code cut} says that it was the first one lost with its
     * connection.
     */
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

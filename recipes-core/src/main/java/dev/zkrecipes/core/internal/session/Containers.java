// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.Answer;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the servers of a client have container nodes. Some that speak ZooKeeper's protocol do not: they say that they
 * do not know the request, or just cut the connection. One that is cut may have many reasons; so this is known when it
 * has happened {@value #LOSSES} times in a row, on as many connections. Confined to the engine thread.
 */
public final class Containers {
    private static final Logger log = LoggerFactory.getLogger(Containers.class);
    private static final int LOSSES = 3;

    private boolean unused;
    private int losses;
    private long lostOn;

    /**
     * Begins without knowledge.
     *
     * @param unwanted whether persistent nodes are to be made from the start
     */
    public Containers(boolean unwanted) {
        this.unused = unwanted;
    }

    /** Whether persistent nodes take their place. */
    boolean areUnused() {
        return unused;
    }

    /**
     * A request for a container was answered.
     *
     * @param lost whether it was lost with the connection that it was sent on
     * @param sentOn the number of that connection
     */
    void note(Answer<?> answer, boolean lost, long sentOn) {
        if (unused) {
            return;
        }
        if (lost) {
            losses += sentOn == lostOn ? 0 : 1;
            lostOn = sentOn;
        } else if (!answer.isUnsettled()) {
            losses = 0;
        }
        if (answer.code() == Code.UNIMPLEMENTED || losses == LOSSES) {
            unused = true;
            log.warn(
                    "The servers have no container nodes ({}), so the paths of locks are made of persistent nodes, which nobody"
                            + " removes: delete those that are not used any more, and build the client with persistentPaths().",
                    lost ? "they cut the connection at each request for one" : answer.code());
        }
    }
}

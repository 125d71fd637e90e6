// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.OpResult;

/** A {@link Session}, as its watches and its lists see it. Confined to the engine thread. */
interface SessionLink {
    ZooKeeperOperations zk();

    boolean isConnected();

    boolean isEnded();

    /** Sends one {@code multi} of checks: a small committed write, which is OK if all paths exist. */
    void check(List<String> paths, Consumer<Answer<List<OpResult>>> reply);

    /** Runs a task after the longest retry delay. */
    void later(Runnable task);
}

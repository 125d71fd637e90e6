// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A lock that is just a rule for who is granted behind whom. */
record Queue(String name, Function<List<LockNode>, Decision> rule) implements LockDriver {
    static final int LIMIT = 2;

    /** One at a time. */
    static final Queue MUTEX = new Queue("lock-", Decision::grantedIfFirst);

    /** Two at a time. */
    static final Queue PAIR =
            new Queue("pair-", front -> front.size() < LIMIT ? Decision.granted() : Decision.waitFor(front));

    static ExploredLock exploredMutex(Queue queue) {
        return ExploredLock.of(
                "mutex", (front, self) -> front.isEmpty(), (client, path) -> List.of(queue.on(client, path)));
    }

    static ExploredLock exploredPair(Queue queue) {
        return ExploredLock.of(
                "pair", (front, self) -> front.size() < LIMIT, (client, path) -> List.of(queue.on(client, path)));
    }

    InterProcessLock on(ZooKeeperClient client, String path) {
        return new LockInternals(client, path, this, LockOptions.defaults()).threadOwned();
    }

    @Override
    public String nodeName() {
        return name;
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, name);
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return rule.apply(predecessors);
    }
}

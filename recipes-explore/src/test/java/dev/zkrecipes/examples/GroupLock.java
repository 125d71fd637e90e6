// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A room that any number of one group may be in, and never two groups. First come, first served: while somebody of
 * another group waits, later ones of the group inside wait behind it, so no group starves.
 */
public final class GroupLock {
    private static final String KIND = "group.";
    private static final Pattern GROUP = Pattern.compile("[A-Za-z0-9._~]{0,80}");
    private final ZooKeeperClient client;
    private final String path;

    /** Makes a lock on a path; sends nothing. */
    public GroupLock(ZooKeeperClient client, String path) {
        this.client = client;
        this.path = path;
    }

    /** The lock for a member of a group, re-entrant per thread. A thread is in one group at a time: another one is refused. */
    public InterProcessLock lock(String group) {
        if (!GROUP.matcher(group).matches()) {
            throw new IllegalArgumentException("not up to 80 of A-Z a-z 0-9 . _ ~, so no group: \"" + group + "\"");
        }
        return new LockInternals(client, path, new Driver(group), LockOptions.defaults()).threadOwned();
    }

    record Driver(String group) implements FifoDriver {
        @Override
        public String nodeName() {
            return KIND + group + "-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parseWithPayload(childName, KIND);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            for (int i = predecessors.size() - 1; i >= 0; i--) {
                if (!predecessors.get(i).payload().equals(self.payload())) {
                    return Decision.waitFor(predecessors.get(i));
                }
            }
            return Decision.granted();
        }
    }
}

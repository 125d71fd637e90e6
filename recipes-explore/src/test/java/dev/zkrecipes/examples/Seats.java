// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** As many as there are seats hold together. The number is kept in ZooKeeper, and may be changed while they hold. */
public final class Seats {
    private static final String KIND = "seat-";
    private final LockInternals engine;

    /** Makes a lock on a path with that many seats, unless the path has another number already; sends nothing. */
    public Seats(ZooKeeperClient client, String path, int seats) {
        this.engine = new LockInternals(client, path, new Driver(seats), LockOptions.defaults());
    }

    /** One seat for each acquire. */
    public InterProcessLock seat() {
        return engine.unowned();
    }

    /** If there are fewer seats from now on, holders stay. */
    public void change(int seats) throws InterruptedException {
        byte[] rule = new Driver(seats).initialRule();
        engine.changeRule(before -> rule);
    }

    record Driver(int seats) implements SharedRuleDriver {
        Driver {
            if (seats < 1) {
                throw new IllegalArgumentException(seats + " seats, must be at least 1");
            }
        }

        @Override
        public byte[] initialRule() {
            return String.valueOf(seats).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public LockDriver under(byte[] rule) {
            return new Driver(Integer.parseInt(new String(rule, StandardCharsets.UTF_8)));
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            int size = predecessors.size();
            return size < seats ? Decision.granted() : Decision.waitFor(predecessors.subList(size - seats, size));
        }

        @Override
        public String nodeName() {
            return KIND;
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, KIND);
        }
    }
}

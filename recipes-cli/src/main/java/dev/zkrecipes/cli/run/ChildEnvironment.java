// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.zookeeper.Op;

/** The variables that describe the lock to the command. Those of a nested lock replace those of the outer one. */
final class ChildEnvironment {
    static final String PATH = "ZKLOCK_PATH";
    static final String FENCE = "ZKLOCK_FENCE";
    static final String SESSION = "ZKLOCK_SESSION";
    static final String NODE = "ZKLOCK_NODE";

    private ChildEnvironment() {}

    static Map<String, String> of(Lease lease, ZooKeeperClient client) {
        String session = client.zooKeeper()
                .map(handle -> "0x" + Long.toHexString(handle.getSessionId()))
                .orElse("");
        String nodes = MultiLease.guardsOf(lease).stream().map(Op::getPath).collect(Collectors.joining(","));
        return Map.of(PATH, lease.path(), FENCE, String.valueOf(lease.fencingToken()), SESSION, session, NODE, nodes);
    }
}

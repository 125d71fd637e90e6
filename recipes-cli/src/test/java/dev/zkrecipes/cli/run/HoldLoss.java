// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;

/** How {@code zklock hold} loses its lock. */
enum HoldLoss {
    NODE_DELETED,
    SESSION_EXPIRED,
    LAUNCHER_KILLED,
    KEEPER_KILLED;

    /**
     * Lets it happen.
     *
     * @param path of the lock, which nobody else wants
     * @param script that runs a {@link HoldForm}
     */
    void happen(EmbeddedZooKeeper server, String path, RunningZkLock script) throws IOException, InterruptedException {
        switch (this) {
            case NODE_DELETED ->
                server.deleteNode(path + "/" + server.children(path).get(0));
            case SESSION_EXPIRED ->
                server.expireSession(Long.decode(script.out().replaceAll("(?s).*session (0x[0-9a-f]+).*", "$1")));
            case LAUNCHER_KILLED -> RunningZkLock.signal("KILL", find(script.children(), HoldLoss::hasKeeper));
            case KEEPER_KILLED -> RunningZkLock.signal("KILL", find(script.children(), HoldLoss::isKeeper));
        }
    }

    private static long find(List<ProcessHandle> all, Predicate<ProcessHandle> wanted) {
        return all.stream().filter(wanted).findFirst().orElseThrow().pid();
    }

    private static boolean isKeeper(ProcessHandle process) {
        return process.info().command().orElse("").endsWith("java");
    }

    private static boolean hasKeeper(ProcessHandle process) {
        return process.children().anyMatch(HoldLoss::isKeeper);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A process that leads until it is ended by SIGTERM, and then takes its time. Nobody closes its election. */
final class LeadingProcess {
    private LeadingProcess() {}

    /**
     * Leads.
     *
     * @param arguments connect string, path of the election, and a folder: there it makes the files "leading" and then
     *     "stopping", waits for "stop" and makes "stopped"
     */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[2]);
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(arguments[0])
                .sessionTimeout(Duration.ofSeconds(30))
                .closeTimeout(Duration.ofHours(1))
                .closeOnShutdown()
                .build();
        LeaderElection election = new LeaderElection(client, arguments[1]);
        election.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {
                make("leading");
            }

            @Override
            public void termEnded(Term term) {
                make("stopping");
                while (Files.notExists(folder.resolve("stop"))) {
                    LockSupport.parkNanos(10_000_000);
                }
                make("stopped");
            }

            private void make(String file) {
                try {
                    Files.createFile(folder.resolve(file));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        election.join();
        while (System.in.read() >= 0) {} // until SIGTERM
    }
}

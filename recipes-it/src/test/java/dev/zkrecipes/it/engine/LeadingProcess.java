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

/** A process that leads until it is ended by SIGTERM, and then takes its time. Nobody closes its election. */
final class LeadingProcess {
    private LeadingProcess() {}

    /**
     * Leads.
     *
     * @param arguments connect string, path of the election, and a folder: there it makes the file "stopping", waits for
     *     "stop" and makes "stopped"
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
            public void termBegan(Term term) {}

            @Override
            public void termEnded(Term term) {
                try {
                    Files.createFile(folder.resolve("stopping"));
                    while (Files.notExists(folder.resolve("stop"))) {
                        Thread.sleep(10);
                    }
                    Files.createFile(folder.resolve("stopped"));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        election.join();
        while (System.in.read() >= 0) {} // until SIGTERM
    }
}

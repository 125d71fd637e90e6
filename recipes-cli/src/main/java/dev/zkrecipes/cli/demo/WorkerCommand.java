// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.zookeeper.ZooKeeper;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** A worker process of a demo. */
@Command(name = "worker", hidden = true)
final class WorkerCommand implements Callable<Integer> {
    /** The requested time-out: short, so that the take-over comes soon. The server may grant more. */
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(3);

    @Option(names = "--recipe", required = true)
    private DemoRecipe recipe = DemoRecipe.MUTEX;

    @Option(names = "--number", required = true)
    private int number;

    @Option(names = "--connect", required = true)
    private String connectString = "";

    @Option(names = "--path", required = true)
    private String lockPath = "";

    @Option(names = "--folder", required = true)
    private Path folder = Path.of("");

    @Override
    public Integer call() throws IOException {
        Orders orders = Orders.listen(System.in);
        Reporter reporter = new Reporter(System.out, number);
        try {
            work(orders, reporter);
            reporter.say(Event.Kind.ENDED, Map.of());
            return ExitCode.OK;
        } catch (LockException | IOException e) {
            reporter.say(Event.Kind.FAILED, Map.of(), String.valueOf(e.getMessage()));
            return ExitCode.SOFTWARE;
        } finally {
            if (orders.isOrphaned()) {
                DemoFolder.delete(folder);
            }
        }
    }

    private void work(Orders orders, Reporter reporter) throws IOException {
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(SESSION_TIMEOUT)
                .ownerLabel("zklock demo, worker " + number)
                .build()) {
            try {
                long timeout = orders.interruptibly(() -> awaitSession(client));
                reporter.say(
                        Event.Kind.READY, Map.of("pid", ProcessHandle.current().pid(), "timeout", timeout));
                orders.awaitBegin();
                recipe.worker().run(client, lockPath, folder, orders, reporter);
            } catch (InterruptedException e) {
                // An order to stop, which is how a worker ends.
            }
        }
    }

    /** Returns the time-out that was negotiated, in milliseconds. */
    private static long awaitSession(ZooKeeperClient client) throws InterruptedException {
        Duration patience = Duration.ofSeconds(1);
        while (!client.awaitConnected(patience)) {
            // The demo decides how long it waits for its workers.
        }
        return client.zooKeeper().map(ZooKeeper::getSessionTimeout).orElse((int) SESSION_TIMEOUT.toMillis());
    }
}

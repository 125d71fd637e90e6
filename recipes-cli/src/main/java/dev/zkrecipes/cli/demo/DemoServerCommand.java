// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** The server process of a demo. */
@Command(name = "server", hidden = true)
final class DemoServerCommand implements Callable<Integer> {
    static final Duration TICK = Duration.ofMillis(500);

    @Option(names = "--folder", required = true)
    private Path folder = Path.of("");

    @Override
    public Integer call() throws IOException, InterruptedException {
        Orders orders = Orders.listen(System.in);
        Reporter reporter = new Reporter(System.out, Event.SERVER);
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.builder()
                .tickTime(TICK)
                .dataDirectory(folder.resolve("server"))
                .start()) {
            reporter.say(Event.Kind.READY, Map.of("pid", ProcessHandle.current().pid()), server.connectString());
            orders.awaitStop();
        } finally {
            if (orders.isOrphaned()) {
                DemoFolder.delete(folder);
            }
        }
        return ExitCode.OK;
    }
}

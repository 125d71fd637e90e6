// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three servers are stopped, and come back with a copy of their data that is older than the sessions of their clients. */
@Tag("soak")
@Tag("H109")
@Tag("H122")
@Timeout(600)
class RestoredEnsembleIT {
    private static final Duration SESSION = Duration.ofSeconds(3);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Path copies;

    RestoredEnsembleIT(@TempDir Path copies) {
        this.copies = copies;
    }

    @Test
    void clients_workAgain_onServersThatKnowLessThanTheyHaveSeen() throws Exception {
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
            try (ZooKeeperClient gone = client(ensemble)) {
                within(new InterProcessMutex(gone, "/in-copy").acquireAsync());
                for (EnsembleServer server : ensemble.servers()) {
                    copy(server.dataDirectory(), copies.resolve(String.valueOf(server.number())));
                }
            }
            stop(ensemble);
            start(ensemble); // as leader of an epoch that the copies do not know
            makeNodes(ensemble);

            try (ZooKeeperClient idle = client(ensemble);
                    ZooKeeperClient holder = client(ensemble);
                    ZooKeeperClient waiter = client(ensemble)) {
                Lease earlier = within(new InterProcessMutex(idle, "/idle").acquireAsync());
                long earlierToken = earlier.fencingToken();
                within(earlier.closeAsync());
                Lease held = within(new InterProcessMutex(holder, "/held").acquireAsync());
                CompletableFuture<Lease> waiting = new InterProcessMutex(waiter, "/held").acquireAsync();
                try (ZooKeeper handle = handle(ensemble)) {
                    await().until(() -> handle.getChildren("/held", false).size() == 2);
                }

                stop(ensemble);
                for (EnsembleServer server : ensemble.servers()) {
                    delete(server.dataDirectory().resolve("version-2"));
                    copy(copies.resolve(String.valueOf(server.number())), server.dataDirectory());
                }
                start(ensemble);
                try (ZooKeeper handle = handle(ensemble)) {
                    assertThat(handle.exists("/after-0", false)).isNull();
                }

                assertThat(within(held.ended())).isEqualTo(LeaseState.LOST);
                within(within(waiting).closeAsync());
                for (ZooKeeperClient each : List.of(idle, holder, waiter)) {
                    Lease again = within(new InterProcessMutex(each, "/idle").acquireAsync());
                    await().until(again::isValid);
                    assertThat(again.fencingToken()).isLessThan(earlierToken);
                    within(again.closeAsync());
                    within(within(new InterProcessMutex(each, "/in-copy").acquireAsync())
                            .closeAsync());
                }
            }
        }
    }

    private static ZooKeeperClient client(ZooKeeperEnsemble ensemble) throws InterruptedException {
        return TestClients.connect(ensemble.connectString(), SESSION);
    }

    /** So that the restored servers know less, whatever happens there. */
    private static void makeNodes(ZooKeeperEnsemble ensemble) throws Exception {
        try (ZooKeeper handle = handle(ensemble)) {
            for (int i = 0; i < 300; i++) {
                handle.create("/after-" + i, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
        }
    }

    private static ZooKeeper handle(ZooKeeperEnsemble ensemble) throws IOException {
        ZooKeeper handle = new ZooKeeper(ensemble.connectString(), 30_000, event -> {});
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        return handle;
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(LIMIT);
    }

    private static <T> T within(CompletionStage<T> stage) {
        CompletableFuture<T> future = stage.toCompletableFuture();
        assertThat(future).succeedsWithin(LIMIT);
        return future.join();
    }

    private static void stop(ZooKeeperEnsemble ensemble) {
        ensemble.servers().forEach(EnsembleServer::kill);
    }

    private static void start(ZooKeeperEnsemble ensemble) {
        ensemble.servers().forEach(EnsembleServer::restart);
        ensemble.awaitComplete();
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                Files.createDirectories(to.resolve(from.relativize(directory)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.REPLACE_EXISTING);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** A directory of files. */
    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }
}

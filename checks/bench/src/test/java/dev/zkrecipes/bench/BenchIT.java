// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.cases.BenchCase;
import dev.zkrecipes.bench.cases.Cases;
import dev.zkrecipes.bench.cases.WaysToWait;
import dev.zkrecipes.bench.cases.WaysToWait.Way;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Handles;
import dev.zkrecipes.bench.measure.Effort;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.bench.measure.Setting;
import dev.zkrecipes.bench.report.Charts;
import dev.zkrecipes.bench.report.Result;
import dev.zkrecipes.bench.server.Counts;
import dev.zkrecipes.bench.server.ServerProcess;
import dev.zkrecipes.bench.server.Store;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** From end to end, so briefly that the figures say nothing; the server is a process of its own, as in earnest. */
@Timeout(600)
class BenchIT {
    private static final Effort BRIEF =
            new Effort(Duration.ofMillis(1), 0, 1, Duration.ofMillis(1), Duration.ofMillis(300), 3, 3);

    private static Servers servers;

    @BeforeAll
    static void prepare() {
        servers = new Servers();
    }

    @AfterAll
    static void close() {
        servers.close();
    }

    private static Result play(String name, Contender... contenders) throws InterruptedException {
        BenchCase found = Cases.find(name).orElseThrow();
        Progress progress = new Progress(new PrintWriter(Writer.nullWriter()), false, 0);
        return new BenchRun(servers, BRIEF, Set.of(contenders), progress).play(found, Setting.memory(0));
    }

    @Test
    void turnOfEachContender_isMeasured(@TempDir Path folder) throws Exception {
        Result result = play("uncontended", Contender.values());
        assertThat(Contender.values()).allSatisfy(contender -> {
            assertThat(result.summary(contender, Metric.RATE).orElseThrow().median())
                    .isPositive();
            assertThat(result.summary(contender, Metric.REQUESTS).orElseThrow().median())
                    .isPositive();
        });
        assertThat(result.ratio(Contender.CURATOR, Metric.RATE)).isPresent();
        Charts.ratios(List.of(result), Metric.RATE, folder);
        assertThat(folder.resolve("rate-ratios.png")).isNotEmptyFile();
    }

    @Test
    void contendedAcquireAndRelease_isCountedExactly() throws Exception {
        Result result = play("requests", Contender.BARE);
        assertThat(result.summary(Contender.BARE, Metric.REQUESTS).orElseThrow().median())
                .isEqualTo(5); // create, list, watch; delete; list
        assertThat(result.summary(Contender.BARE, Metric.EVENTS).orElseThrow().median())
                .isEqualTo(1);
    }

    @Test
    void parentWatch_wakesAll_andPredecessorWatchWakesOne() throws Exception {
        ServerProcess server = servers.of(Store.MEMORY);
        List<WaysToWait.Cost> costs =
                new WaysToWait(server, 3, what -> {}).compare(List.of(Way.PARENT, Way.PREDECESSOR));
        assertThat(costs)
                .containsExactly(
                        new WaysToWait.Cost(Way.PARENT, 1, 2, 1),
                        new WaysToWait.Cost(Way.PARENT, 3, 4, 3),
                        new WaysToWait.Cost(Way.PREDECESSOR, 1, 2, 1),
                        new WaysToWait.Cost(Way.PREDECESSOR, 3, 2, 1));
    }

    @Test
    void proxy_delaysRequestAndReplyByHalfTheRoundTripEach() throws Exception {
        int millis = 20;
        assertThat(RoundTrip.medianMicros(servers.of(Store.MEMORY).connectString(millis), 3))
                .isGreaterThanOrEqualTo(millis * 1_000.0);
    }

    /** If it held back one request until the one before was answered, the server would not know the second by then. */
    @Test
    void proxy_letsRequestsFollowEachOther() throws Exception {
        ServerProcess server = servers.of(Store.MEMORY);
        ZooKeeper zooKeeper = Handles.connect(server.connectString(1_000));
        try {
            Counts before = server.counts();
            AtomicReference<Counts> atTheFirstReply = new AtomicReference<>();
            CountDownLatch replies = new CountDownLatch(2);
            zooKeeper.exists(
                    "/",
                    false,
                    (rc, path, context, stat) -> {
                        atTheFirstReply.set(server.counts());
                        replies.countDown();
                    },
                    null);
            zooKeeper.exists("/", false, (rc, path, context, stat) -> replies.countDown(), null);
            replies.await();
            assertThat(atTheFirstReply.get().minus(before).requests()).isEqualTo(2);
        } finally {
            zooKeeper.close();
        }
    }
}

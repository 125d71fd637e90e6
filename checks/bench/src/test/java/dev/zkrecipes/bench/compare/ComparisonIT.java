// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.compare.BenchCase.Setting;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.LockClient;
import dev.zkrecipes.bench.runner.BenchServer;
import dev.zkrecipes.bench.runner.BenchServer.Counts;
import dev.zkrecipes.bench.runner.Store;
import java.rmi.RemoteException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** From end to end, so briefly that the figures say nothing; the server is a process of its own, as in earnest. */
@Timeout(600)
class ComparisonIT {
    private static final Effort BRIEF =
            new Effort(Duration.ofMillis(1), 0, 1, Duration.ofMillis(1), Duration.ofMillis(300), 3);

    private static Comparison comparison;

    @BeforeAll
    static void prepare() {
        comparison = new Comparison(BRIEF, progress -> {});
    }

    @AfterAll
    static void close() {
        comparison.close();
    }

    private static BenchServer server() {
        return comparison.server(Store.MEMORY);
    }

    /** One of each work; those that differ by their number only are left out. */
    static List<String> cases() {
        return List.of(
                "uncontended",
                "uncontended-background",
                "new-path",
                "semaphore-4",
                "multi-lock-8",
                "threads-2",
                "threads-32-local",
                "clients-2",
                "paths-32",
                "kept",
                "reentrant",
                "waiters-100");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void turnOfEachContender_isMeasured(String name) throws Exception {
        BenchCase found = Cases.find(name).orElseThrow();
        Result result = comparison.play(found, Setting.memory(0));
        assertThat(found.work().contenders())
                .allSatisfy(contender -> assertThat(result.summary(contender, Metric.CPU)
                                .orElseThrow()
                                .median())
                        .isPositive());
    }

    @Test
    void proxy_delaysRequestAndReplyByHalfTheRoundTripEach() throws Exception {
        int millis = 20;
        assertThat(Comparison.roundTripMicros(server().connectString(millis), 3))
                .isGreaterThanOrEqualTo(millis * 1_000.0);
    }

    /**
     * If it held back one request until the one before was answered, the server would never know the second by then.
     * If this machine stands still between the two, the second comes too late by itself, so they are sent again.
     */
    @Test
    void proxy_letsRequestsFollowEachOther() throws Exception {
        LockClient client = Contender.BARE.connect(server().connectString(1_000), Comparison.SESSION);
        try {
            client.handle().exists("/", false);
            long known = 0;
            for (int tries = 0; known != 2 && tries < 10; tries++) {
                known = knownAtTheFirstReplyToTwo(client);
            }
            assertThat(known).isEqualTo(2);
        } finally {
            client.close();
        }
    }

    private static long knownAtTheFirstReplyToTwo(LockClient client) throws Exception {
        Counts before = server().counts();
        CompletableFuture<Long> atTheFirstReply = new CompletableFuture<>();
        CountDownLatch second = new CountDownLatch(1);
        client.handle()
                .exists("/", false, (rc, path, context, stat) -> atTheFirstReply.complete(requestsSince(before)), null);
        client.handle().exists("/", false, (rc, path, context, stat) -> second.countDown(), null);
        second.await();
        return atTheFirstReply.get();
    }

    private static long requestsSince(Counts before) {
        try {
            return server().counts().minus(before).requests();
        } catch (RemoteException e) {
            throw new IllegalStateException(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The engine resets ZooKeeper's counter, which numbers the nodes of a lock, long before numbers repeat. */
abstract class CounterContract extends Stage {
    private static final int OLD = 1 << 30;
    private static final int WORN_OUT = Integer.MAX_VALUE - (1 << 20) + 1;
    private static final int STUCK = Integer.MAX_VALUE;
    private static final int LOW = 100;

    private List<String> queues() {
        return recipe().queues().stream().map(scene.path::concat).toList();
    }

    private void age(int next) {
        queues().forEach(queue -> server.setSequenceCounter(queue, next));
    }

    private Map<String, String> rules() {
        Map<String, String> rules = new HashMap<>();
        queues().forEach(queue ->
                rules.put(queue, new String(server.data(queue).orElseThrow(), StandardCharsets.UTF_8)));
        return rules;
    }

    /** Returns the zxids of the transactions that created the queues. A recreated path has another one. */
    private List<Long> created() {
        ZooKeeper handle = contenders.client.zooKeeper().orElseThrow();
        List<Long> created = new ArrayList<>();
        for (String queue : queues()) {
            try {
                created.add(handle.exists(queue, false).getCzxid());
            } catch (KeeperException | InterruptedException e) {
                throw new AssertionError("cannot look at " + queue, e);
            }
        }
        return created;
    }

    private void assertNumbers(int from, int to) {
        assertThat(scene.nodes())
                .isNotEmpty()
                .allSatisfy(node -> assertThat(Long.parseLong(node.substring(node.length() - 10)))
                        .isBetween((long) from, (long) to));
    }

    private static long highestToken(Lease lease) {
        return MultiLease.tokensOf(lease).values().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElseThrow();
    }

    @Test
    @Tag("H05")
    void oldCounter_isResetByALoneHolder() throws InterruptedException {
        Map<String, String> rules = rules();
        age(OLD);
        Lease old = lock.acquire();
        assertNumbers(OLD, OLD + 1);
        long token = highestToken(old);
        List<Long> before = created();
        old.close();
        // The path is recreated only while it has no nodes, so a request that checked for that would prevent it.
        Soon.await().until(() -> created().stream().noneMatch(before::contains));
        try (Lease young = lock.acquire()) {
            assertThat(highestToken(young)).isGreaterThan(token);
            assertNumbers(0, LOW);
            young.verify();
        }
        assertThat(rules()).isEqualTo(rules);
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H05")
    void oldCounter_isNotResetWhileAnyRequestIsThere() throws InterruptedException {
        age(OLD);
        Lease held = lock.acquire();
        CompletableFuture<Lease> waiting = scene.rival.acquireAsync();
        Soon.await().until(() -> scene.nodes().size() > queues().size());
        held.close();
        Lease next = Soon.get(waiting);
        assertNumbers(OLD, OLD + 2);
        next.verify();
        next.close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H05")
    void wornOutCounter_isResetBeforeAnyGrant() throws InterruptedException {
        Map<String, String> rules = rules();
        long token;
        try (Lease last = lock.acquire()) {
            token = highestToken(last);
        }
        scene.awaitNobody();
        age(WORN_OUT);
        try (Lease young = lock.acquire()) {
            assertNumbers(0, LOW);
            assertThat(highestToken(young)).isGreaterThan(token);
        }
        scene.awaitNobody();
        age(STUCK);
        Optional<Lease> tried = lock.tryAcquire();
        assertThat(tried).isPresent();
        assertNumbers(0, LOW);
        tried.orElseThrow().close();
        assertThat(rules()).isEqualTo(rules);
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H05")
    void wornOutCounter_admitsNobodyWhileAnyoneIsThere() throws InterruptedException {
        Lease held = scene.rival.acquire();
        age(STUCK);
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(LockLimitException.class)
                .hasMessageContaining("It is reset as soon as nobody holds the lock or waits for it");
        scene.awaitOnlyTheRival();
        held.verify();

        held.close();
        scene.awaitNobody();
        Lease young = lock.acquire();
        assertNumbers(0, LOW);
        young.verify();
        young.close();
        scene.assertNothingLeft();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Finds out when a node of a waiting attempt was deleted by somebody else: nothing would ever wake it. Every T/6 it
 * lists each path on which an attempt has waited for that long, once for all attempts of a session. Shorter waits cost
 * nothing. Confined to the engine thread.
 */
public final class LostPlaceCheck {
    private final EngineClient client;
    private final Map<AcquireLoop, Long> waitingSince = new LinkedHashMap<>();
    private boolean armed;

    private record Place(Session session, String lockPath) {}

    public LostPlaceCheck(EngineClient client) {
        this.client = client;
    }

    public void add(AcquireLoop attempt) {
        waitingSince.putIfAbsent(attempt, client.scheduler().nanoTime());
        if (!armed) {
            arm();
        }
    }

    public void remove(AcquireLoop attempt) {
        waitingSince.remove(attempt);
    }

    public boolean isEmpty() {
        return waitingSince.isEmpty();
    }

    private void arm() {
        long period = waitingSince.keySet().stream()
                .flatMap(attempt -> attempt.waitingNodes().stream())
                .mapToLong(node -> node.session().timeoutNanos() / 6)
                .min()
                .orElse(0);
        if (period > 0) {
            armed = true;
            client.scheduler().schedule(Duration.ofNanos(period), this::tick);
        }
    }

    private void tick() {
        armed = false;
        long now = client.scheduler().nanoTime();
        Map<Place, Map<AcquireLoop, OwnNode>> due = new HashMap<>();
        waitingSince.forEach((attempt, since) -> attempt.waitingNodes().forEach(node -> {
            if (now - since >= node.session().timeoutNanos() / 6
                    && node.session().isConnected()) {
                due.computeIfAbsent(new Place(node.session(), node.lockPath()), place -> new HashMap<>())
                        .put(attempt, node);
            }
        }));
        due.forEach(
                (place, waiting) -> place.session().zk().children(place.lockPath(), answer -> check(waiting, answer)));
        arm();
    }

    private static void check(Map<AcquireLoop, OwnNode> waiting, Answer<Children> answer) {
        if (!answer.isOk() && answer.code() != Code.NONODE) {
            return; // without a connection nothing can be seen; the next tick looks again
        }
        Set<String> present = new HashSet<>(answer.isOk() ? answer.value().names() : List.of());
        waiting.forEach((attempt, node) -> {
            if (attempt.waitingNodes().contains(node) && !present.contains(node.name())) {
                attempt.onVanished();
            }
        });
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.queue.JointDecision;
import dev.zkrecipes.core.internal.queue.RuleVersion;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** What one attempt waits for. Nodes that it goes on waiting for keep their watches. */
public final class PredecessorWatch implements WatchRegistry.Subscriber {
    private final Runnable onAnyChange;
    private final BiConsumer<String, Answer<?>> onAnyRefused;
    private final Set<String> nodes = new HashSet<>();
    private final Map<String, RuleVersion> rules = new HashMap<>();

    /**
     * Waits for nothing yet.
     *
     * @param onAnyChange run when a node is gone, or a rule is not the one that was decided by
     * @param onAnyRefused told of what cannot be watched
     */
    public PredecessorWatch(Runnable onAnyChange, BiConsumer<String, Answer<?>> onAnyRefused) {
        this.onAnyChange = onAnyChange;
        this.onAnyRefused = onAnyRefused;
    }

    public void waitFor(JointDecision.Wait wait, WatchRegistry registry) {
        for (String path : List.copyOf(nodes)) {
            if (!wait.nodes().contains(path)) {
                nodes.remove(path);
                registry.unsubscribe(path, this);
            }
        }
        for (String path : List.copyOf(rules.keySet())) {
            if (!wait.rules().containsKey(path)) {
                rules.remove(path);
                registry.unsubscribeLater(path, this);
            }
        }
        for (String path : wait.nodes()) {
            if (nodes.add(path)) {
                registry.subscribe(path, this);
            }
        }
        wait.rules().forEach((path, version) -> {
            rules.put(path, version);
            registry.subscribe(path, this);
        });
    }

    public void clear(WatchRegistry registry) {
        waitFor(new JointDecision.Wait(Set.of(), Map.of()), registry);
    }

    @Override
    public void onRead(String path, Content content) {
        RuleVersion decidedBy = rules.get(path);
        if (decidedBy != null && !decidedBy.equals(RuleVersion.of(content.stat()))) {
            onAnyChange.run();
        }
    }

    @Override
    public void onGone(String path) {
        nodes.remove(path);
        rules.remove(path);
        onAnyChange.run();
    }

    @Override
    public void onRefused(String path, Answer<?> answer) {
        nodes.remove(path);
        rules.remove(path);
        onAnyRefused.accept(path, answer);
    }
}

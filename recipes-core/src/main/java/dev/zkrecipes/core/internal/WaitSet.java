// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/** What one attempt waits for. Nodes that it goes on waiting for keep their watches. */
final class WaitSet implements WatchRegistry.Subscriber {
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
    WaitSet(Runnable onAnyChange, BiConsumer<String, Answer<?>> onAnyRefused) {
        this.onAnyChange = onAnyChange;
        this.onAnyRefused = onAnyRefused;
    }

    void waitFor(Verdict.Wait wait, WatchRegistry registry) {
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

    void clear(WatchRegistry registry) {
        waitFor(new Verdict.Wait(Set.of(), Map.of()), registry);
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Answer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/** The nodes that one attempt waits for. Nodes that it goes on waiting for keep their watches. */
final class WaitSet implements WatchRegistry.Subscriber {
    private final Runnable onAnyGone;
    private final BiConsumer<String, Answer<?>> onAnyRefused;
    private final Set<String> watched = new LinkedHashSet<>();

    WaitSet(Runnable onAnyGone, BiConsumer<String, Answer<?>> onAnyRefused) {
        this.onAnyGone = onAnyGone;
        this.onAnyRefused = onAnyRefused;
    }

    void waitFor(Set<String> paths, WatchRegistry registry) {
        List.copyOf(watched).stream().filter(path -> !paths.contains(path)).forEach(path -> {
            watched.remove(path);
            registry.unsubscribe(path, this);
        });
        for (String path : paths) {
            if (watched.add(path)) {
                registry.subscribe(path, this);
            }
        }
    }

    void clear(WatchRegistry registry) {
        waitFor(Set.of(), registry);
    }

    @Override
    public void onGone(String path) {
        watched.remove(path);
        onAnyGone.run();
    }

    @Override
    public void onRefused(String path, Answer<?> answer) {
        watched.remove(path);
        onAnyRefused.accept(path, answer);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.node.CounterReset;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The counters that are being started anew: each once, however many wait for it. Confined to the engine thread. */
final class CounterRenewals {
    private final Map<Key, List<Consumer<Answer<?>>>> underWay = new HashMap<>();

    private record Key(Session session, String path) {}

    /** Starts the counter of an empty path anew. All that ask meanwhile are told the one answer. */
    void renew(Session session, String path, Consumer<Answer<?>> done) {
        underWay.keySet().removeIf(key -> key.session().isEnded());
        Key key = new Key(session, path);
        List<Consumer<Answer<?>>> asked = underWay.get(key);
        if (asked != null) {
            asked.add(done);
            return;
        }
        underWay.put(key, new ArrayList<>(List.of(done)));
        new CounterReset(session).renew(path, answer -> {
            List<Consumer<Answer<?>>> told = underWay.remove(key);
            if (told != null) {
                told.forEach(each -> Guarded.run(() -> each.accept(answer)));
            }
        });
    }
}

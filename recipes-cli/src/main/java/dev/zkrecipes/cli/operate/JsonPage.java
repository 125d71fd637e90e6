// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.cli.operate.Tree.Lock;
import dev.zkrecipes.cli.text.Json;
import dev.zkrecipes.core.RevocationRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Formats the locks at a path or below it as one line of JSON. Unknown values are left out. */
final class JsonPage {
    private JsonPage() {}

    static String of(Tree view) {
        if (!view.deep()) {
            Map<String, Object> lock = lock(view.lock(), view.seen());
            lock.put("seen", view.seen().toString());
            return Json.of(lock);
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("root", view.root());
        tree.put("seen", view.seen().toString());
        tree.put(
                "locks",
                view.locks().stream().map(lock -> lock(lock, view.seen())).toList());
        tree.put("notes", view.notes());
        return Json.of(tree);
    }

    private static Map<String, Object> lock(Lock lock, Instant now) {
        PathView view = lock.view();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("path", view.path());
        json.put("exists", lock.exists());
        json.put("recipe", view.recipe().name().toLowerCase(Locale.ROOT).replace('_', '-'));
        view.limit()
                .ifPresent(limit ->
                        json.put("limit", Map.of("configured", limit.configured(), "current", limit.current())));
        json.put("holding", lock.in(State.HOLDS).size());
        json.put("waiting", lock.in(State.WAITS).size());
        json.put("unknown", lock.in(State.UNKNOWN).size());
        List<Object> participants = new ArrayList<>();
        view.places().forEach(place -> participants.add(place(place, participants.size(), now)));
        json.put("participants", participants);
        json.put("notes", lock.notes());
        return json;
    }

    private static Map<String, Object> place(Place place, int position, Instant now) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("position", position);
        json.put("state", place.state().name().toLowerCase(Locale.ROOT));
        json.put("node", place.node().name());
        json.put("kind", place.node().kind());
        json.put("payload", place.node().payload());
        json.put("weight", place.permits());
        json.put("readable", place.stat().isPresent());
        place.stat().ifPresent(stat -> {
            json.put("owner", place.owner());
            // As text, because many JSON parsers keep only 53 bits of a number.
            json.put("session", "0x" + Long.toHexString(stat.getEphemeralOwner()));
            json.put("created", Instant.ofEpochMilli(stat.getCtime()).toString());
            json.put("ageMillis", Math.max(0, now.toEpochMilli() - stat.getCtime()));
            json.put("holds", place.data().holds());
            json.put(
                    "requests", place.requests().stream().map(JsonPage::request).toList());
        });
        return json;
    }

    private static Map<String, Object> request(RevocationRequest request) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("requester", request.requester());
        request.grace().ifPresent(grace -> json.put("graceMillis", grace.toMillis()));
        return json;
    }
}

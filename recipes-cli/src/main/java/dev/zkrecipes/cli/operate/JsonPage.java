// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.text.Json;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** What stands at a path or below it, as one line of JSON. What is unknown is left out. */
final class JsonPage {
    private JsonPage() {}

    static String of(TreeView view) {
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

    private static Map<String, Object> lock(LockView lock, Instant now) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("path", lock.path());
        json.put("exists", lock.exists());
        json.put("recipe", recipe(lock.recipe()));
        lock.limit().ifPresent(limit -> json.put("limit", limit(limit)));
        json.put("holding", lock.count(Standing.HOLDS));
        json.put("waiting", lock.count(Standing.WAITS));
        json.put("unknown", lock.count(Standing.UNKNOWN));
        json.put(
                "participants",
                lock.places().stream().map(place -> place(place, now)).toList());
        json.put("notes", lock.notes());
        return json;
    }

    private static Map<String, Object> limit(Limit limit) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("configured", limit.configured());
        json.put("current", limit.current());
        return json;
    }

    private static String recipe(SeenRecipe recipe) {
        return switch (recipe) {
            case NONE -> "none";
            case MUTEX -> "mutex";
            case READ_WRITE -> "read-write";
            case SEMAPHORE -> "semaphore";
            case CURATOR_SEMAPHORE -> "curator-semaphore";
            case MIXED -> "mixed";
            case UNKNOWN -> "unknown";
        };
    }

    private static Map<String, Object> place(Place place, Instant now) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("position", place.position());
        json.put(
                "state",
                switch (place.standing()) {
                    case HOLDS -> "holds";
                    case WAITS -> "waits";
                    case UNKNOWN -> "unknown";
                });
        json.put("node", place.node());
        json.put("kind", place.kind());
        json.put("payload", place.payload());
        json.put("weight", place.weight());
        json.put("readable", place.origin().readable());
        if (place.origin().readable()) {
            json.put("owner", place.data().owner());
            // Text, as a reader may keep numbers with no more than 53 bits.
            json.put("session", "0x" + Long.toHexString(place.origin().session()));
            json.put("created", place.origin().created().toString());
            json.put("ageMillis", place.age(now).toMillis());
            json.put(
                    "requests", place.requests().stream().map(JsonPage::request).toList());
        }
        return json;
    }

    private static Map<String, Object> request(GiveBackRequest request) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("requester", request.requester());
        request.grace().ifPresent(grace -> json.put("graceMillis", grace.toMillis()));
        return json;
    }
}

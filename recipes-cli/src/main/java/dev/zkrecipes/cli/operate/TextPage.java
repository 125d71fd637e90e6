// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.Table.Column;
import dev.zkrecipes.cli.text.PlainText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What stands at a path or below it, as lines of plain text for people. */
final class TextPage {
    private static final int LONGEST_LABEL = 60;
    private static final int LONGEST_NAME = 120;
    private static final int NAMED_HOLDERS = 3;
    private static final String UNKNOWN = "-";

    private TextPage() {}

    static List<String> of(TreeView view) {
        List<String> lines = new ArrayList<>();
        if (view.deep()) {
            addTree(lines, view);
        } else {
            addLock(lines, view.lock(), view.seen());
        }
        view.notes().forEach(note -> lines.add("note: " + note));
        return lines;
    }

    private static void addLock(List<String> lines, LockView lock, Instant now) {
        lines.add(PlainText.of(lock.path()) + ": " + headline(lock));
        if (!lock.places().isEmpty()) {
            lines.addAll(queue(lock, now).lines());
        }
        lock.notes().forEach(note -> lines.add("note: " + note));
    }

    /** One lock in a few words. */
    static String headline(LockView lock) {
        if (lock.places().isEmpty()) {
            return lock.recipe() == SeenRecipe.NONE ? "free" : lock.recipe() + limit(lock) + ", free";
        }
        boolean weighed = lock.recipe() == SeenRecipe.SEMAPHORE;
        List<String> parts = new ArrayList<>();
        parts.add(lock.recipe() + limit(lock));
        for (Standing standing : Standing.values()) {
            int count = lock.count(standing);
            if (count > 0 || standing != Standing.UNKNOWN) {
                parts.add(verb(standing, count) + (weighed ? permits(standing, lock.weight(standing)) : ""));
            }
        }
        return String.join(", ", parts);
    }

    private static String limit(LockView lock) {
        return lock.limit()
                .map(limit -> " of " + Queue.counted(limit.current(), "permit"))
                .orElse("");
    }

    private static String verb(Standing standing, int count) {
        String plural = count == 1 ? "s" : "";
        return switch (standing) {
            case HOLDS -> count + " hold" + plural;
            case WAITS -> count + " wait" + plural;
            case UNKNOWN -> count + " of unknown state";
        };
    }

    private static String permits(Standing standing, long weight) {
        return weight == 0 ? "" : (standing == Standing.WAITS ? " for " : " ") + weight;
    }

    private static Table queue(LockView lock, Instant now) {
        boolean remarked =
                lock.places().stream().anyMatch(place -> !remark(place).isEmpty());
        List<Column> columns = new ArrayList<>(List.of(
                Column.right("PLACE"),
                Column.left("STATE"),
                Column.left("KIND"),
                Column.right("WEIGHT"),
                Column.right("AGE"),
                Column.left("SESSION"),
                Column.left("OWNER"),
                Column.left("NODE")));
        if (remarked) {
            columns.add(Column.left("REMARK"));
        }
        Table table = new Table(columns);
        for (Place place : lock.places()) {
            List<String> row = new ArrayList<>(List.of(
                    String.valueOf(place.position()),
                    place.standing().toString(),
                    PlainText.of(place.kind(), LONGEST_LABEL),
                    String.valueOf(place.weight()),
                    place.origin().readable() ? Ages.show(place.age(now)) : UNKNOWN,
                    place.origin().session() == 0
                            ? UNKNOWN
                            : "0x" + Long.toHexString(place.origin().session()),
                    PlainText.of(place.data().owner(), LONGEST_LABEL),
                    PlainText.of(place.node(), LONGEST_NAME)));
            if (remarked) {
                row.add(remark(place));
            }
            table.add(row);
        }
        return table;
    }

    private static String remark(Place place) {
        String asked = place.requests().stream()
                .map(request -> "asked back by " + PlainText.of(request.requester(), LONGEST_LABEL)
                        + request.grace()
                                .map(grace -> ", broken after " + Ages.show(grace))
                                .orElse(""))
                .collect(Collectors.joining("; "));
        return place.origin().isOrphan() ? "no session" + (asked.isEmpty() ? "" : "; " + asked) : asked;
    }

    private static void addTree(List<String> lines, TreeView view) {
        long held = view.locks().stream()
                .filter(lock -> lock.count(Standing.HOLDS) > 0)
                .count();
        lines.add(
                PlainText.of(view.root()) + ": " + Queue.counted(view.locks().size(), "lock") + ", " + held + " held");
        if (view.locks().isEmpty()) {
            return;
        }
        Table table = new Table(List.of(
                Column.left("PATH"),
                Column.left("RECIPE"),
                Column.right("HOLD"),
                Column.right("WAIT"),
                Column.right("?"),
                Column.left("HELD BY")));
        for (LockView lock : view.locks()) {
            table.add(List.of(
                    PlainText.of(lock.path()),
                    lock.recipe() + limit(lock),
                    String.valueOf(lock.count(Standing.HOLDS)),
                    String.valueOf(lock.count(Standing.WAITS)),
                    String.valueOf(lock.count(Standing.UNKNOWN)),
                    heldBy(lock, view.seen())));
        }
        lines.addAll(table.lines());
        for (LockView lock : view.locks()) {
            lock.notes().forEach(note -> lines.add("note: " + PlainText.of(lock.path()) + ": " + note));
        }
    }

    private static String heldBy(LockView lock, Instant now) {
        List<Place> holders = lock.holders();
        String named = holders.stream()
                .limit(NAMED_HOLDERS)
                .map(place -> PlainText.of(place.data().owner(), LONGEST_LABEL) + age(place, now))
                .collect(Collectors.joining(", "));
        int more = holders.size() - NAMED_HOLDERS;
        return more > 0 ? named + " and " + more + " more" : named;
    }

    private static String age(Place place, Instant now) {
        Duration age = place.age(now);
        return place.origin().readable() ? " (" + Ages.show(age) + ")" : "";
    }
}

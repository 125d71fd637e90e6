// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.Recipe;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.cli.operate.Tree.Lock;
import dev.zkrecipes.cli.text.PlainText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.data.Stat;

/** Formats the locks at a path or below it as lines of plain text, for people. */
final class TextPage {
    private static final int LONGEST_LABEL = 60;
    private static final int LONGEST_NAME = 120;
    private static final int NAMED_HOLDERS = 3;
    // The titles of the columns that are aligned to the right.
    private static final Set<String> NUMBERS = Set.of("PLACE", "QUEUED", "GRANTED", "HOLD", "WAIT", "?");

    private final Tree tree;
    private final Instant now;
    private final List<String> lines = new ArrayList<>();

    private TextPage(Tree tree, Instant now) {
        this.tree = tree;
        this.now = now;
    }

    /** Builds the lines. Ages are measured at {@code now}. */
    static List<String> of(Tree tree, Instant now) {
        TextPage page = new TextPage(tree, now);
        if (tree.deep()) {
            page.addTree();
        } else {
            page.addLock(tree.lock());
        }
        tree.notes().forEach(note -> page.lines.add("note: " + note));
        return page.lines;
    }

    private void addLock(Lock lock) {
        lines.add(PlainText.of(lock.view().path()) + ": " + headline(lock));
        if (!lock.view().places().isEmpty()) {
            addQueue(lock.view());
        }
        lock.notes().forEach(note -> lines.add("note: " + note));
    }

    /** Describes one lock in a few words. */
    private static String headline(Lock lock) {
        String recipe = recipe(lock.view());
        if (lock.view().places().isEmpty()) {
            return lock.view().recipe() == Recipe.NONE ? recipe : recipe + ", free";
        }
        int unknown = lock.in(State.UNKNOWN).size();
        return recipe
                + counted(lock, State.HOLDS, " ")
                + counted(lock, State.WAITS, " for ")
                + (unknown > 0 ? ", " + unknown + " of unknown state" : "");
    }

    /** Returns the verb for several nodes in a state. In an election, holders lead and waiters stand. */
    private static String verb(PathView view, State state) {
        boolean isElection = view.recipe() == Recipe.LATCH;
        return switch (state) {
            case HOLDS -> isElection ? "lead" : "hold";
            case WAITS -> isElection ? "stand" : "wait";
            case UNKNOWN -> "?";
        };
    }

    private static String counted(Lock lock, State state, String before) {
        List<Place> places = lock.in(state);
        String verb = " " + verb(lock.view(), state);
        long permits = places.stream().mapToLong(Place::permits).sum();
        boolean told = permits > 0 && lock.view().recipe() == Recipe.SEMAPHORE;
        return ", " + places.size() + verb + (places.size() == 1 ? "s" : "") + (told ? before + permits : "");
    }

    private static String recipe(PathView view) {
        return switch (view.recipe()) {
            case NONE -> "free";
            case MUTEX -> "mutex";
            case LATCH -> "leader election";
            case READ_WRITE -> "read-write lock";
            case SEMAPHORE ->
                view.limit()
                        .map(limit -> "semaphore of " + Tree.counted(limit.current(), "permit"))
                        .orElse("semaphore");
            case CURATOR_SEMAPHORE -> "Curator's semaphore";
            case MIXED -> "several recipes";
            case UNKNOWN -> "unknown recipe";
        };
    }

    private void addQueue(PathView view) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("PLACE", "STATE", "WANTS", "QUEUED", "GRANTED", "SESSION", "OWNER", "NODE", "REMARK"));
        for (Place place : view.places()) {
            long session = place.stat().map(Stat::getEphemeralOwner).orElse(0L);
            rows.add(List.of(
                    String.valueOf(rows.size() - 1),
                    verb(view, place.state()) + (place.state() == State.UNKNOWN ? "" : "s"),
                    wanted(place),
                    queuedSince(place).map(this::ago).orElse("-"),
                    tree.granted(view, place).map(this::ago).orElse(""),
                    session == 0 ? "-" : "0x" + Long.toHexString(session),
                    PlainText.of(place.owner(), LONGEST_LABEL),
                    PlainText.of(place.node().name(), LONGEST_NAME),
                    remark(place)));
        }
        addTable(rows);
    }

    /** Describes what a node requests. A mutex node in a folder belongs to a Curator semaphore. */
    private static String wanted(Place place) {
        String kind = place.node().kind();
        return switch (kind) {
            case "lock-" -> place.node().name().contains("/") ? "1 permit" : "lock";
            case "latch-" -> "leadership";
            case "__READ__" -> "read";
            case "__WRIT__" -> "write";
            case "lease-", "lease." -> Tree.counted(place.permits(), "permit");
            default -> PlainText.of(kind + place.node().payload(), LONGEST_LABEL);
        };
    }

    private static String remark(Place place) {
        List<String> remarks = new ArrayList<>(Tree.isOrphan(place) ? List.of("no session") : List.of());
        if (place.state() == State.WAITS) { // the entries of a holder may be out of date
            place.data()
                    .holds()
                    .forEach(node -> remarks.add("holds " + PlainText.of(node.replaceFirst("/[^/]*$", ""))));
        }
        place.requests()
                .forEach(request -> remarks.add("asked back by " + PlainText.of(request.requester(), LONGEST_LABEL)
                        + request.grace()
                                .map(grace -> ", broken after " + age(grace))
                                .orElse("")));
        return String.join("; ", remarks);
    }

    private void addTree() {
        long held = tree.locks().stream()
                .filter(lock -> !lock.in(State.HOLDS).isEmpty())
                .count();
        lines.add(PlainText.of(tree.root()) + ": " + Tree.counted(tree.locks().size(), "lock") + ", " + held + " held");
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("PATH", "RECIPE", "HOLD", "WAIT", "?", "HELD BY"));
        for (Lock lock : tree.locks()) {
            rows.add(List.of(
                    PlainText.of(lock.view().path()),
                    recipe(lock.view()),
                    String.valueOf(lock.in(State.HOLDS).size()),
                    String.valueOf(lock.in(State.WAITS).size()),
                    String.valueOf(lock.in(State.UNKNOWN).size()),
                    heldBy(lock)));
        }
        if (rows.size() > 1) {
            addTable(rows);
        }
        tree.locks()
                .forEach(lock -> lock.notes()
                        .forEach(note ->
                                lines.add("note: " + PlainText.of(lock.view().path()) + ": " + note)));
    }

    private String heldBy(Lock lock) {
        List<Place> holders = lock.in(State.HOLDS);
        String named = holders.stream()
                .limit(NAMED_HOLDERS)
                .map(place -> PlainText.of(place.owner(), LONGEST_LABEL)
                        + tree.granted(lock.view(), place)
                                .map(since -> " (granted " + ago(since) + ")")
                                .or(() -> queuedSince(place).map(since -> " (queued " + ago(since) + ")"))
                                .orElse(""))
                .collect(Collectors.joining(", "));
        int more = holders.size() - NAMED_HOLDERS;
        return more > 0 ? named + " and " + more + " more" : named;
    }

    private static Optional<Instant> queuedSince(Place place) {
        return place.stat().map(stat -> Instant.ofEpochMilli(stat.getCtime()));
    }

    private String ago(Instant since) {
        return age(Duration.between(since, now)) + " ago";
    }

    /** Shows an age in its two largest units. A negative age, due to a clock that differs, is shown as 0. */
    static String age(Duration age) {
        if (age.toDays() > 0) {
            return String.format(Locale.ROOT, "%dd%02dh", age.toDays(), age.toHoursPart());
        } else if (age.toHours() > 0) {
            return String.format(Locale.ROOT, "%dh%02dm", age.toHours(), age.toMinutesPart());
        } else if (age.toMinutes() > 0) {
            return String.format(Locale.ROOT, "%dm%02ds", age.toMinutes(), age.toSecondsPart());
        }
        return Math.max(0, age.toSeconds()) + "s";
    }

    /** Adds a table. Each column is as wide as its widest entry, and a column without entries is left out. */
    private void addTable(List<List<String>> rows) {
        List<String> titles = rows.get(0);
        int[] widths = new int[titles.size()];
        for (int i = 0; i < widths.length; i++) {
            for (List<String> row : rows.subList(1, rows.size())) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
            widths[i] = widths[i] == 0 ? 0 : Math.max(widths[i], titles.get(i).length());
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                if (widths[i] > 0) {
                    String padding = " ".repeat(widths[i] - width(row.get(i)));
                    boolean right = NUMBERS.contains(titles.get(i));
                    line.append(right ? padding + row.get(i) : row.get(i) + padding)
                            .append("  ");
                }
            }
            lines.add(line.toString().stripTrailing());
        }
    }

    private static int width(String text) {
        return text.codePointCount(0, text.length());
    }
}

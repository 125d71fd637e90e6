// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.Kind.Named;
import dev.zkrecipes.cli.text.PlainText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The lock nodes below one path, in order, and their meaning.
 *
 * @param path the path
 * @param nodes its lock nodes, in order
 * @param limit of a semaphore, if the data of the path are one
 */
record Queue(String path, List<Node> nodes, Optional<Limit> limit) {

    Queue {
        nodes = nodes.stream()
                .sorted(Comparator.comparing(node -> node.named().node()))
                .toList();
    }

    SeenRecipe recipe() {
        Set<Kind> kinds = nodes.stream().map(node -> node.named().kind()).collect(Collectors.toSet());
        return kinds.isEmpty() && limit.isPresent() ? SeenRecipe.SEMAPHORE : SeenRecipe.of(kinds);
    }

    /** What stands there. */
    LockView view() {
        SeenRecipe recipe = recipe();
        List<Named> names = nodes.stream().map(Node::named).toList();
        List<Standing> standings = HoldingRule.apply(recipe, names, limit);
        List<Place> places = new ArrayList<>(nodes.size());
        for (Node node : nodes) {
            places.add(node.at(places.size(), standings.get(places.size()), ""));
        }
        return new LockView(
                path, true, recipe, recipe == SeenRecipe.SEMAPHORE ? limit : Optional.empty(), places, notes(recipe));
    }

    private List<String> notes(SeenRecipe recipe) {
        List<String> notes = new ArrayList<>();
        Set<String> kinds = nodes.stream()
                .map(node -> PlainText.of(node.named().node().kind(), 40))
                .collect(Collectors.toCollection(TreeSet::new));
        switch (recipe) {
            case MIXED ->
                notes.add("nodes of several recipes (" + String.join(", ", kinds) + ") share this path, so"
                        + " zklock cannot tell who holds; no lock can be acquired here until one kind is gone");
            case UNKNOWN ->
                notes.add("zklock does not know the rule of " + String.join(", ", kinds)
                        + ", so it cannot tell who holds: this is the order of the queue");
            case SEMAPHORE -> semaphoreNotes(notes);
            case CURATOR_SEMAPHORE -> notes.add("Curator keeps the limit in the code of its users, not in ZooKeeper");
            case NONE, MUTEX, READ_WRITE -> {}
        }
        notes.addAll(notesOn(nodes));
        return notes;
    }

    private void semaphoreNotes(List<String> notes) {
        if (limit.isEmpty()) {
            notes.add("the data of the path are not the limit of a semaphore, so zklock cannot tell who holds");
        } else if (limit.get().isResized()) {
            notes.add("the limit was made as " + limit.get().configured() + " and resized to "
                    + limit.get().current() + ": earlier holders may be shown as waiting");
        }
    }

    /** Notes on unusual nodes. */
    static List<String> notesOn(List<Node> nodes) {
        List<String> notes = new ArrayList<>();
        long unreadable =
                nodes.stream().filter(node -> !node.origin().readable()).count();
        if (unreadable > 0) {
            notes.add(
                    counted(unreadable, "node") + " may not be read with these rights: owner, session and age unknown");
        }
        long orphans = nodes.stream().filter(node -> node.origin().isOrphan()).count();
        if (orphans > 0) {
            notes.add(counted(orphans, "node") + " without a session: no lock makes such nodes, and they stay until"
                    + " somebody deletes them (zklock break --node)");
        }
        if (nodes.stream().anyMatch(node -> !node.named().node().hasOrdinaryNumber())) {
            notes.add("the sequence counter of the path is exhausted: nodes beyond its end are granted nothing");
        }
        return notes;
    }

    static String counted(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}

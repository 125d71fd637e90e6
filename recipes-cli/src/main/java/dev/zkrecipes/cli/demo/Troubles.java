// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Problems with the processes of a demo, a sentence each. */
final class Troubles {
    private final Roster roster;
    private final List<String> found = new ArrayList<>();

    Troubles(Roster roster) {
        this.roster = roster;
    }

    /**
     * Looks at an event.
     *
     * @param killed the worker killed by the demo, 0 if none
     * @return the trouble, if it is one
     */
    Optional<String> on(Event event, int killed) {
        Optional<String> trouble = switch (event.kind()) {
            case FAILED -> Optional.of(Timeline.name(event.worker()) + " cannot continue: " + event.note());
            case EXITED -> onExit(event, killed);
            default -> Optional.empty();
        };
        trouble.ifPresent(found::add);
        return trouble;
    }

    void add(String trouble) {
        found.add(trouble);
    }

    List<String> all() {
        return List.copyOf(found);
    }

    private Optional<String> onExit(Event event, int killed) {
        long code = event.number("code");
        int worker = event.worker();
        boolean expected = worker != Event.SERVER
                && (worker == killed || (code == 0 && roster.member(worker).state() == Roster.State.ENDED));
        boolean told = found.stream().anyMatch(trouble -> trouble.startsWith(Timeline.name(worker) + " "));
        return expected || told
                ? Optional.empty()
                : Optional.of(Timeline.name(worker) + " ended unasked, with exit code " + code);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What every worker is doing and has done, according to the events so far. For one thread. */
final class Roster {
    /** How many workers fit on a line one by one. */
    static final int FEW = 4;

    private final Map<Integer, Member> members = new TreeMap<>();

    /** What a worker is doing. */
    enum State {
        STARTING,
        PAUSING,
        WAITING,
        HOLDING,
        ENDED,
        KILLED
    }

    /** One worker. */
    static final class Member {
        private final int number;
        private State state = State.STARTING;
        private long pid;
        private Duration sessionTimeout = Duration.ZERO;
        private long token;
        private long grants;
        private long waited;
        private long longestWait;

        private Member(int number) {
            this.number = number;
        }

        String name() {
            return Timeline.name(number);
        }

        int number() {
            return number;
        }

        /** Whether the process should be running. */
        boolean isRunning() {
            return state != State.ENDED && state != State.KILLED;
        }

        State state() {
            return state;
        }

        long pid() {
            return pid;
        }

        Duration sessionTimeout() {
            return sessionTimeout;
        }

        /** Of the last grant. */
        long token() {
            return token;
        }

        private void on(Event event) {
            if (state == State.KILLED) {
                return;
            }
            switch (event.kind()) {
                case READY -> {
                    pid = event.number("pid");
                    sessionTimeout = Duration.ofMillis(event.number("timeout"));
                    state = State.PAUSING;
                }
                case WAITING -> state = State.WAITING;
                case GRANTED -> {
                    state = State.HOLDING;
                    token = event.number("token");
                    grants++;
                    waited += event.number("waited");
                    longestWait = Math.max(longestWait, event.number("waited"));
                }
                case LOST, RELEASING, FAILED -> state = State.PAUSING;
                case ENDED -> state = State.ENDED;
                case INCREMENTED, IDLING, EXITED -> {}
            }
        }
    }

    Roster(int workers) {
        for (int number = 1; number <= workers; number++) {
            members.put(number, new Member(number));
        }
    }

    void on(Event event) {
        if (event.worker() != Event.SERVER) {
            member(event.worker()).on(event);
        }
    }

    void killed(int worker) {
        member(worker).state = State.KILLED;
    }

    Member member(int number) {
        Member member = members.get(number);
        if (member == null) {
            throw new IllegalArgumentException("there is no worker " + number);
        }
        return member;
    }

    List<Member> members() {
        return List.copyOf(members.values());
    }

    boolean isReady() {
        return members.values().stream().noneMatch(member -> member.state == State.STARTING);
    }

    /** The holder. If the events of two workers arrive out of order, the later token is right. */
    Optional<Member> holder() {
        return members.values().stream()
                .filter(member -> member.state == State.HOLDING)
                .max(Comparator.comparingLong(Member::token));
    }

    boolean isAnyWaiting() {
        return members.values().stream().anyMatch(member -> member.state == State.WAITING);
    }

    /** The names of the waiters, such as {@code w1 w3 wait}, or their number if there are many. */
    String waiting() {
        List<String> waiting = members.values().stream()
                .filter(member -> member.state == State.WAITING)
                .map(Member::name)
                .toList();
        return switch (waiting.size()) {
            case 0 -> "nobody waits";
            case 1 -> waiting.get(0) + " waits";
            default -> (waiting.size() > FEW ? waiting.size() : String.join(" ", waiting)) + " wait";
        };
    }

    void printOn(Page page) {
        page.print(Tone.STRONG, "  worker  process       holds   mean wait  longest wait  end");
        for (Member member : members.values()) {
            page.print(
                    Tone.PLAIN,
                    String.format(
                            Locale.ROOT,
                            "  %-6s  %7d  %10d  %10s  %12s  %s",
                            member.name(),
                            member.pid,
                            member.grants,
                            Timeline.show(member.grants == 0 ? 0 : member.waited / member.grants),
                            Timeline.show(member.longestWait),
                            member.state == State.KILLED
                                    ? "killed"
                                    : member.state == State.ENDED ? "in order" : "LOST"));
        }
    }
}

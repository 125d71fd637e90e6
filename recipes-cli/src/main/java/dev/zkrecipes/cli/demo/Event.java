// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a child tells the demo: one line of its standard output.
 *
 * <pre>
 * 2 ready pid=4711 timeout=3000
 * 2 granted token=348160 waited=9100000
 * 2 failed : the disk is full
 * </pre>
 *
 * @param worker the number of the worker, from 1; 0 is the server
 * @param kind what happened
 * @param numbers the particulars, by name
 * @param note text for people, often empty; one line
 */
record Event(int worker, Kind kind, Map<String, Long> numbers, String note) {
    static final int SERVER = 0;

    private static final Pattern LINE = Pattern.compile(
            "(?<worker>\\d{1,4}) (?<kind>[a-z]+)(?<numbers>(?: [a-z]+=-?\\d{1,19})*)(?: : (?<note>.*))?");

    /** What can happen. */
    enum Kind {
        /**
         * A worker is connected: pid, and the negotiated time-out in ms. The server runs: pid, and a note of its
         * address.
         */
        READY,
        /** Asks for the lock. */
        WAITING,
        /** Holds the lock: token, and the nanoseconds waited. */
        GRANTED,
        /** Has written the counter file: token, the value written, and the token found. */
        INCREMENTED,
        /** Holds and does nothing, on order: token. */
        IDLING,
        /** Has given up an uncertain hold, without writing. */
        LOST,
        /** Is about to give the lock back. */
        RELEASING,
        /** Cannot continue; the note says why. */
        FAILED,
        /** Has closed everything and ends. */
        ENDED,
        /** The process is gone: its exit code. Never sent, the demo sees it. */
        EXITED;

        private String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        private static Optional<Kind> of(String word) {
            return Arrays.stream(values())
                    .filter(kind -> kind.word().equals(word))
                    .findFirst();
        }
    }

    Event {
        numbers = Map.copyOf(numbers);
        note = note.replaceAll("\\s+", " ").strip();
    }

    Event(int worker, Kind kind, Map<String, Long> numbers) {
        this(worker, kind, numbers, "");
    }

    /** Returns a number of this event. */
    long number(String name) {
        Long number = numbers.get(name);
        if (number == null) {
            throw new IllegalArgumentException("no " + name + " in the event: " + line());
        }
        return number;
    }

    String line() {
        StringBuilder line = new StringBuilder().append(worker).append(' ').append(kind.word());
        new TreeMap<>(numbers)
                .forEach((name, number) ->
                        line.append(' ').append(name).append('=').append(number));
        return line + (note.isEmpty() ? "" : " : " + note);
    }

    /** Reads a line; empty if it is no event, such as the thread dump of a JVM. */
    static Optional<Event> parse(String line) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String note = matcher.group("note");
        try {
            Map<String, Long> numbers = new TreeMap<>();
            for (String pair : matcher.group("numbers").strip().split(" ", -1)) {
                int equals = pair.indexOf('=');
                if (equals > 0) {
                    numbers.put(pair.substring(0, equals), Long.valueOf(pair.substring(equals + 1)));
                }
            }
            int worker = Integer.parseInt(matcher.group("worker"));
            return Kind.of(matcher.group("kind"))
                    .map(kind -> new Event(worker, kind, numbers, note == null ? "" : note));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import dev.zkrecipes.core.LockRefusedException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The limit of a semaphore, which is the data of its node: three lines of UTF-8, {@code zkrecipes 1},
 * {@code configured=N} and {@code current=N}, each with a line feed at its end. After a resize to fewer permits there
 * is a fourth line, {@code earlier=N}. {@code docs/versions.md} is the reference.
 *
 * @param configured the number that all users of the semaphore name in their code
 * @param current the number in force, which differs from {@code configured} after a resize
 * @param earlier the greatest number that has been in force so far; not less than {@code current}
 */
record SemaphoreLimit(int configured, int current, int earlier) {
    private static final String VERSION_LINE = "zkrecipes 1";
    private static final String CONFIGURED = "configured=";
    private static final String CURRENT = "current=";
    private static final String EARLIER = "earlier=";

    /** A limit that no greater one has preceded. */
    SemaphoreLimit(int configured, int current) {
        this(configured, current, current);
    }

    /** The limit of a semaphore that was never resized. */
    static SemaphoreLimit of(int maxLeases) {
        return new SemaphoreLimit(maxLeases, maxLeases);
    }

    /**
     * Reads the limit from a node.
     *
     * @param path the node, for the error
     * @throws LockRefusedException if the data is not that of a semaphore
     */
    static SemaphoreLimit decode(String path, byte[] data) {
        List<String> lines = List.of(new String(data, StandardCharsets.UTF_8).split("\n", -1));
        if (lines.get(0).equals(VERSION_LINE)) {
            Optional<Integer> configured = number(lines, CONFIGURED);
            Optional<Integer> current = number(lines, CURRENT);
            if (configured.isPresent() && current.isPresent()) {
                int earlier = number(lines, EARLIER).orElse(0);
                return new SemaphoreLimit(configured.get(), current.get(), Math.max(earlier, current.get()));
            }
        }
        throw new LockRefusedException("the node " + path + " has "
                + (data.length == 0 ? "no data" : data.length + " bytes of other data")
                + " where a semaphore keeps its limit: it was created by another recipe, by another library such"
                + " as Curator, for another purpose, or by hand; use another path, or delete the node while it"
                + " is not in use");
    }

    byte[] encode() {
        String tail = earlier > current ? EARLIER + earlier + '\n' : "";
        return (VERSION_LINE + '\n' + CONFIGURED + configured + '\n' + CURRENT + current + '\n' + tail)
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Checks that the semaphore was configured with this number.
     *
     * @throws LockRefusedException if it was not
     */
    void requireConfigured(String path, int maxLeases) {
        if (configured != maxLeases) {
            throw new LockRefusedException("the semaphore " + path + " was made with " + configured
                    + " permits, and this process is configured with " + maxLeases
                    + ": name the same number in all processes, and change the number in force with resize. To change"
                    + " the number in the code, delete the path while nobody uses it");
        }
    }

    SemaphoreLimit resized(int maxLeases) {
        return new SemaphoreLimit(configured, maxLeases, Math.max(earlier, maxLeases));
    }

    /** Returns a limit that grants whatever earlier limits have granted; empty if this limit does. */
    Optional<SemaphoreLimit> beforeResize() {
        return earlier > current ? Optional.of(new SemaphoreLimit(configured, earlier)) : Optional.empty();
    }

    private static Optional<Integer> number(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()))
                .flatMap(value -> Permits.parse(value).stream())
                .findFirst();
    }
}

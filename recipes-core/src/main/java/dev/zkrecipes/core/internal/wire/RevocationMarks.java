// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads and writes requests to release a lock, which are stored in the data of a node: one line
 * {@code revoke=<id> <grace> <requester>} for each. All other lines are preserved. {@code docs/versions.md} is the
 * reference.
 */
public final class RevocationMarks {
    /** The text with which Curator's Revoker replaces the data of a node. */
    static final String CURATOR = OwnerLabel.CURATOR_REVOCATION;

    /**
     * The maximum number of requests that a node keeps: the latest ones. A holder that listens has already seen the
     * earlier requests, or learns from the latest ones that its lock is requested.
     */
    static final int MOST = 8;

    private static final String LINE = "revoke=";
    private static final String NO_GRACE = "-"; // the request sets no time limit
    private static final Pattern OURS = Pattern.compile("[0-9a-fA-F]{" + NodeId.LENGTH + "}-.*", Pattern.DOTALL);
    private static final Pattern MILLISECONDS = Pattern.compile("[0-9]{1,18}");

    private RevocationMarks() {}

    /** Whether this library created the node, judging by its name. All other nodes get the data that Curator writes. */
    public static boolean isOurs(String nodeName) {
        return OURS.matcher(nodeName).matches();
    }

    /** Returns the data to write, with this request added to those that the node already carries. */
    public static byte[] with(RevocationRequest request, String nodeName, Content content) {
        if (!isOurs(nodeName)) {
            return CURATOR.getBytes(StandardCharsets.UTF_8);
        }
        List<String> lines = new ArrayList<>(OwnerLabel.lines(content.data()));
        lines.removeIf(String::isEmpty);
        if (lines.isEmpty()) {
            lines.add(OwnerLabel.VERSION_LINE);
            in(content).forEach(earlier -> lines.add(line(earlier)));
        }
        lines.add(line(request));
        List<String> marks =
                lines.stream().filter(line -> line.startsWith(LINE)).toList();
        marks.stream().limit(Math.max(0, marks.size() - MOST)).forEach(lines::remove);
        return (String.join("\n", lines) + '\n').getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the requests that a node carries, oldest first. Anything that looks like a request counts as one: a
     * needless request does less harm than a missed one.
     */
    public static List<RevocationRequest> in(Content content) {
        if (new String(content.data(), StandardCharsets.UTF_8).equals(CURATOR)) {
            // Curator's data is the same each time, and on each node. The transaction that wrote it is not.
            String id = CURATOR + Long.toHexString(content.stat().getMzxid());
            return List.of(new RevocationRequest(id, OwnerLabel.UNKNOWN, Optional.empty()));
        }
        List<String> lines = OwnerLabel.lines(content.data()).stream()
                .filter(line -> line.startsWith(LINE))
                .toList();
        // The data may come from anybody, so the number is limited here as well.
        return lines.stream()
                .skip(Math.max(0, lines.size() - MOST))
                .map(RevocationMarks::parse)
                .toList();
    }

    private static String line(RevocationRequest request) {
        // Rounded up, so that no lease is broken earlier than announced.
        String grace = request.grace()
                .map(time -> String.valueOf(millisRoundedUp(time)))
                .orElse(NO_GRACE);
        return LINE + request.id() + ' ' + grace + ' ' + request.requester();
    }

    /**
     * Returns the time in milliseconds, rounded up, and limited to what a long of nanoseconds can hold, since readers
     * compute in nanoseconds.
     */
    private static long millisRoundedUp(Duration time) {
        long most = Long.MAX_VALUE / 1_000_000 + 1;
        return time.compareTo(Duration.ofMillis(most)) >= 0
                ? most
                : time.plusNanos(999_999).toMillis();
    }

    /** Parses a line leniently: whatever is missing or malformed counts as unknown. */
    private static RevocationRequest parse(String line) {
        String[] parts = line.substring(LINE.length()).split(" ", 3);
        Optional<Duration> grace =
                parts.length > 1 && MILLISECONDS.matcher(parts[1]).matches()
                        ? Optional.of(Duration.ofMillis(Long.parseLong(parts[1])))
                        : Optional.empty();
        String requester = parts.length > 2 && !parts[2].isBlank() ? Printable.of(parts[2]) : OwnerLabel.UNKNOWN;
        return new RevocationRequest(Printable.of(parts[0]), requester, grace);
    }
}

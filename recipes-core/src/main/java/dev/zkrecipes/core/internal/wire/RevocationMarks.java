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
 * Reads and writes requests to release a lock, which stand in the data of a node: one line
 * {@code revoke=<id> <grace> <requester>} for each. All other lines stay as they are. {@code docs/versions.md} is the
 * reference.
 */
public final class RevocationMarks {
    /** The text with which Curator's Revoker replaces the data of a node. */
    static final String CURATOR = OwnerLabel.CURATOR_REVOCATION;

    /**
     * The number of requests that a node keeps, namely the last ones. A holder that listens has seen the earlier
     * requests already, or sees from these that somebody asks.
     */
    static final int MOST = 8;

    private static final String LINE = "revoke=";
    private static final String NO_GRACE = "-"; // the request sets no time limit
    private static final Pattern OURS = Pattern.compile("[0-9a-fA-F]{" + NodeId.LENGTH + "}-.*", Pattern.DOTALL);
    private static final Pattern MILLISECONDS = Pattern.compile("[0-9]{1,18}");

    private RevocationMarks() {}

    /** Whether this library made the node, as its name shows. All other nodes get the data that Curator writes. */
    public static boolean isOurs(String nodeName) {
        return OURS.matcher(nodeName).matches();
    }

    /** The data to write so that the node carries this request beside those that it carries already. */
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
     * The requests that a node carries, the oldest first. Anything that looks like a request counts as one: a
     * needless request does less harm than a missed one.
     */
    public static List<RevocationRequest> in(Content content) {
        if (new String(content.data(), StandardCharsets.UTF_8).equals(CURATOR)) {
            // Curator's data is the same each time. The version of the data tells one request from the next.
            String id = CURATOR + content.stat().getVersion();
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
     * The time in milliseconds; at most as many as fit into a long of nanoseconds, since readers compute in those.
     */
    private static long millisRoundedUp(Duration time) {
        long most = Long.MAX_VALUE / 1_000_000 + 1;
        return time.compareTo(Duration.ofMillis(most)) >= 0
                ? most
                : time.plusNanos(999_999).toMillis();
    }

    /** Parses a line leniently: whatever is missing or malformed is unknown. */
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

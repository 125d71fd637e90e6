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
 * Requests to give a lock back, in the data of a node: a line {@code revoke=<id> <grace> <requester>} for each. Every
 * other line stays. {@code docs/versions.md} is the reference.
 */
public final class RevocationMarks {
    /** What Curator's Revoker writes in place of the data. */
    static final String CURATOR = OwnerLabel.CURATOR_REVOCATION;

    /** The last ones stay: each holder that listens has seen the others, or sees that it is asked. */
    static final int MOST = 8;

    private static final String LINE = "revoke=";
    private static final String NO_GRACE = "-";
    private static final Pattern OURS = Pattern.compile("[0-9a-fA-F]{" + NodeId.LENGTH + "}-.*", Pattern.DOTALL);
    private static final Pattern MILLISECONDS = Pattern.compile("[0-9]{1,18}");

    private RevocationMarks() {}

    /** Whether a node of that name was made by this library. All others get the data that Curator writes. */
    public static boolean isOurs(String nodeName) {
        return OURS.matcher(nodeName).matches();
    }

    /** The data to write so that the node carries this request. */
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
     * The requests that a node carries, the oldest first. Anything that looks like one counts as one: a needless
     * request does less harm than a missed one.
     */
    public static List<RevocationRequest> in(Content content) {
        if (new String(content.data(), StandardCharsets.UTF_8).equals(CURATOR)) {
            // The data is the same each time; the version tells one request from the next.
            String id = CURATOR + content.stat().getVersion();
            return List.of(new RevocationRequest(id, OwnerLabel.UNKNOWN, Optional.empty()));
        }
        List<String> lines = OwnerLabel.lines(content.data()).stream()
                .filter(line -> line.startsWith(LINE))
                .toList();
        // Not more than there should be, whatever the data is.
        return lines.stream()
                .skip(Math.max(0, lines.size() - MOST))
                .map(RevocationMarks::parse)
                .toList();
    }

    private static String line(RevocationRequest request) {
        // Rounded up: no lease is broken earlier than announced.
        String grace = request.grace()
                .map(time -> String.valueOf(millisRoundedUp(time)))
                .orElse(NO_GRACE);
        return LINE + request.id() + ' ' + grace + ' ' + request.requester();
    }

    /** The milliseconds, at most as many as fit into nanoseconds. */
    private static long millisRoundedUp(Duration time) {
        long most = Long.MAX_VALUE / 1_000_000 + 1;
        return time.compareTo(Duration.ofMillis(most)) >= 0
                ? most
                : time.plusNanos(999_999).toMillis();
    }

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

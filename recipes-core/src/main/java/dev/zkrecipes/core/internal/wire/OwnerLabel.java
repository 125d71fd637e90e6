// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import com.google.common.base.Preconditions;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reads and writes the data of our nodes: lines of UTF-8. The first is {@code zkrecipes 1}, the others are
 * {@code name=value}. Readers ignore unknown names, so later versions may add some. {@code docs/versions.md} is the
 * reference.
 */
public final class OwnerLabel {
    public static final String UNKNOWN = "unknown"; // shown for a node whose data has no label

    /** Curator replaces the data of a node by this text to ask the owner of the node to release its lock. */
    static final String CURATOR_REVOCATION = "__REVOKE__";

    /**
     * The maximum number of held nodes that a request names. Readers ignore any more, which this library did not write.
     */
    public static final int MOST_HOLDS = 8;

    private static final int LONGEST = 200; // in characters
    public static final String VERSION_LINE = "zkrecipes 1";
    private static final String OWNER = "owner=";
    private static final String HOLDS = "holds=";

    private OwnerLabel() {}

    /** Returns the label. Throws an IllegalArgumentException if it is blank, too long, or cannot be printed. */
    public static String check(String label) {
        Preconditions.checkArgument(
                !label.isBlank()
                        && label.length() <= LONGEST
                        && label.codePoints().allMatch(Printable::isPlain),
                "owner label \"%s\" must have 1 to %s characters, all printable and not just blanks",
                Printable.of(label),
                LONGEST);
        return label;
    }

    /** Returns the default label: process id and host name. Determining the host name does not use the network. */
    public static String ofThisProcess() {
        String label = String.join("@", String.valueOf(ProcessHandle.current().pid()), Printable.of(HostName.local()));
        return label.substring(0, Math.min(label.length(), LONGEST));
    }

    /** Returns the data of a node with this label. */
    public static byte[] encode(String label) {
        return String.join("", VERSION_LINE, "\n", OWNER, label, "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the data with a line added for each node that the node's thread holds. */
    public static byte[] withHolds(byte[] data, List<String> holds) {
        StringBuilder lines = new StringBuilder(new String(data, StandardCharsets.UTF_8));
        holds.forEach(node -> lines.append(HOLDS).append(node).append('\n'));
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the paths of the nodes held by the thread whose waiting node has this data. */
    public static List<String> holds(byte[] data) {
        return lines(data).stream()
                .filter(line -> line.startsWith(HOLDS))
                .map(line -> line.substring(HOLDS.length()))
                .limit(MOST_HOLDS)
                .toList();
    }

    /** Returns the lines of data in our format; none if the data has another format. */
    public static List<String> lines(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        return text.startsWith(VERSION_LINE + '\n') ? List.of(text.split("\n")) : List.of();
    }

    /**
     * Returns the label in a node's data, fit to print. Other libraries store anything in their nodes: short text is
     * returned as it is.
     */
    public static String decode(byte[] data) {
        if (data == null || data.length == 0) {
            return UNKNOWN;
        }
        List<String> lines = lines(data);
        if (lines.isEmpty()) {
            String text = new String(data, StandardCharsets.UTF_8);
            return text.length() <= LONGEST && !text.equals(CURATOR_REVOCATION) ? Printable.of(text) : UNKNOWN;
        }
        return lines.stream()
                .filter(line -> line.startsWith(OWNER))
                .map(line -> Printable.of(line.substring(OWNER.length())))
                .findFirst()
                .orElse(UNKNOWN);
    }
}

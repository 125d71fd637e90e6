// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import com.google.common.base.Preconditions;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The data of our nodes: lines of UTF-8, the first {@code zkrecipes 1}, then {@code name=value}. Readers ignore names
 * they do not know. {@code docs/versions.md} is the reference.
 */
public final class OwnerLabel {
    public static final String UNKNOWN = "unknown";

    /** What Curator writes in place of the data of a node to ask its owner to give it back. */
    static final String CURATOR_REVOCATION = "__REVOKE__";

    private static final int LONGEST = 200;
    public static final String VERSION_LINE = "zkrecipes 1";
    private static final String OWNER = "owner=";

    private OwnerLabel() {}

    /** Returns the label, or refuses it. */
    public static String check(String label) {
        Preconditions.checkArgument(
                !label.isBlank()
                        && label.length() <= LONGEST
                        && label.codePoints().allMatch(Printable::isPlain),
                "owner label \"%s\" must have 1 to %s characters and no control characters",
                Printable.of(label),
                LONGEST);
        return label;
    }

    /** Process id and host name, without asking the network for the name. */
    public static String ofThisProcess() {
        String label = String.join("@", String.valueOf(ProcessHandle.current().pid()), Printable.of(HostName.local()));
        return label.substring(0, Math.min(label.length(), LONGEST));
    }

    public static byte[] encode(String label) {
        return String.join("", VERSION_LINE, "\n", OWNER, label, "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** The lines of data in our form; none of any other. */
    public static List<String> lines(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        return text.startsWith(VERSION_LINE + '\n') ? List.of(text.split("\n")) : List.of();
    }

    /** The label in a node's data, fit to print. Nodes of other libraries hold what they like: their text, if short. */
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import com.google.common.base.CharMatcher;
import java.util.Objects;
import java.util.Optional;

/**
 * A node in the queue of a lock. Its name is {@code <id>-<kind><number>}, where the id is ours (32 hexadecimal digits),
 * that of Apache Curator's protected nodes ({@code _c_<id>-}), or absent.
 *
 * <p>Nodes are ordered numerically by number, then by name. ZooKeeper's sequence counter sticks at 2^31-1 and then
 * wraps; a node whose number is outside 0..2147483646 sorts in front of all others, so that no request is granted
 * beside it.
 *
 * @param name the whole name below the lock's path
 * @param kind the kind with its separator but without payload: {@code lock-}, {@code __READ__}, {@code range.}
 * @param payload the payload; empty if the kind has none
 * @param number ZooKeeper's sequence number
 */
public record LockNode(String name, String kind, String payload, long number) implements Comparable<LockNode> {

    /** The greatest number with which a node can be granted. */
    public static final long LAST_NUMBER = Integer.MAX_VALUE - 1L;

    /** How many digits ZooKeeper appends to the name of a sequential node. */
    public static final int SEQUENCE_DIGITS = 10;

    private static final int LONGEST_PAYLOAD = 80;
    private static final String CURATOR_PROTECTION = "_c_";
    private static final String ID = "x".repeat(32).concat("-");
    private static final String ID_WITH_DASHES = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx-";
    private static final CharMatcher DIGIT = CharMatcher.inRange('0', '9');
    private static final CharMatcher PAYLOAD = DIGIT.or(CharMatcher.inRange('a', 'z'))
            .or(CharMatcher.inRange('A', 'Z'))
            .or(CharMatcher.anyOf("._~"));

    /**
     * Creates a node. Most drivers need {@link #parse} or {@link #parseWithPayload} only.
     *
     * @param name the whole name below the lock's path
     * @param kind the kind with its separator but without payload
     * @param payload the payload; empty if the kind has none
     * @param number ZooKeeper's sequence number
     */
    public LockNode {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(payload, "payload");
    }

    /**
     * Recognises a node whose kind has no payload.
     *
     * @param childName the name of a child of the lock's path
     * @param kind the kind with its separator, such as {@code lock-} or {@code __READ__}
     * @return the node; empty if the name is of another kind or form
     */
    public static Optional<LockNode> parse(String childName, String kind) {
        Objects.requireNonNull(childName, "childName");
        Objects.requireNonNull(kind, "kind");
        int start = idLength(childName);
        if (!childName.startsWith(kind, start)) {
            return Optional.empty();
        }
        return numbered(childName, kind, "", start + kind.length());
    }

    /**
     * Recognises a node whose kind carries a payload: {@code <id>-<kind><payload>-<number>}.
     *
     * @param childName the name of a child of the lock's path
     * @param kind the kind with its dot, such as {@code range.}
     * @return the node; empty if the name is of another kind or form
     */
    public static Optional<LockNode> parseWithPayload(String childName, String kind) {
        Objects.requireNonNull(childName, "childName");
        Objects.requireNonNull(kind, "kind");
        int start = idLength(childName);
        if (!childName.startsWith(kind, start)) {
            return Optional.empty();
        }
        int payloadStart = start + kind.length();
        int payloadEnd = childName.indexOf('-', payloadStart);
        if (payloadEnd < 0
                || payloadEnd - payloadStart > LONGEST_PAYLOAD
                || !PAYLOAD.matchesAllOf(childName.substring(payloadStart, payloadEnd))) {
            return Optional.empty();
        }
        return numbered(childName, kind, childName.substring(payloadStart, payloadEnd), payloadEnd + 1);
    }

    /**
     * Parses a name in the form of a lock node of any kind. The kind is the part between the id and the number, or up
     * to a dot if a payload follows.
     *
     * @param childName the name
     * @return the node; empty if the name has another form
     */
    public static Optional<LockNode> ofAnyKind(String childName) {
        Objects.requireNonNull(childName, "childName");
        int start = idLength(childName);
        int end = childName.length() - SEQUENCE_DIGITS;
        if (!isLockForm(childName)) {
            return Optional.empty();
        }
        String kind = childName.substring(start, end);
        return parseWithPayload(childName, kind.substring(0, kind.indexOf('.') + 1))
                .filter(node -> !node.kind().isEmpty())
                .or(() -> numbered(childName, kind, "", end));
    }

    /**
     * Whether a name has the form of a sequential lock node of any library: it ends in the ten digits of a sequence
     * number, preceded by a character that is not a digit.
     *
     * @param childName the name of a child of a lock's path
     * @return true if so
     */
    public static boolean isLockForm(String childName) {
        int digits = Objects.requireNonNull(childName, "childName").length() - SEQUENCE_DIGITS;
        return digits > 0
                && !DIGIT.matches(childName.charAt(digits - 1))
                && DIGIT.matchesAllOf(childName.substring(digits));
    }

    /**
     * {@return whether the number is one that ZooKeeper assigns before its counter is exhausted: in 0..2147483646} A
     * node with any other number is never granted.
     */
    public boolean hasOrdinaryNumber() {
        return number >= 0 && number <= LAST_NUMBER;
    }

    @Override
    public int compareTo(LockNode other) {
        int byRank = Long.compare(rank(), other.rank());
        return byRank != 0 ? byRank : name.compareTo(other.name);
    }

    private long rank() {
        return hasOrdinaryNumber() ? number : -1;
    }

    private static Optional<LockNode> numbered(String name, String kind, String payload, int from) {
        int firstDigit = name.startsWith("-", from) ? from + 1 : from;
        int digits = name.length() - firstDigit;
        // A negative number of ten characters has nine digits; more than eighteen would not fit a long.
        if (digits < SEQUENCE_DIGITS - 1 || digits > 18) {
            return Optional.empty();
        }
        for (int i = firstDigit; i < name.length(); i++) {
            if (!DIGIT.matches(name.charAt(i))) {
                return Optional.empty();
            }
        }
        return Optional.of(new LockNode(name, kind, payload, Long.parseLong(name, from, name.length(), 10)));
    }

    /** Returns the length of the id and its dash; 0 if the name begins with neither our id nor one of Curator's. */
    private static int idLength(String name) {
        int start = name.startsWith(CURATOR_PROTECTION) ? CURATOR_PROTECTION.length() : 0;
        if (hasForm(name, start, ID)) {
            return start + ID.length();
        }
        return hasForm(name, start, ID_WITH_DASHES) ? start + ID_WITH_DASHES.length() : 0;
    }

    /** Whether the name has the form from this position on, where x is any hexadecimal digit. */
    private static boolean hasForm(String name, int start, String form) {
        if (name.length() < start + form.length()) {
            return false;
        }
        for (int i = 0; i < form.length(); i++) {
            char found = name.charAt(start + i);
            if (form.charAt(i) == '-' ? found != '-' : Character.digit(found, 16) < 0) {
                return false;
            }
        }
        return true;
    }
}

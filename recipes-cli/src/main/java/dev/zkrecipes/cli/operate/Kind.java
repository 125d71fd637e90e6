// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.core.spi.LockNode;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a lock node asks for, as its name says. */
enum Kind {
    /** A mutex, of this library or Curator's. */
    MUTEX("lock-"),
    READ("__READ__"),
    WRITE("__WRIT__"),
    /** Permits of a semaphore; their number is the payload. */
    PERMITS("lease."),
    /** One lease of Curator's {@code InterProcessSemaphoreV2}, in its folder {@code leases}. */
    CURATOR_LEASE("lease-"),
    /** Something else in the form of a lock node: a driver of the user's own, or another library's. */
    OTHER("");

    private static final Pattern FORM = Pattern.compile(
            "(?:(?:_c_)?(?:\\p{XDigit}{32}|\\p{XDigit}{8}(?:-\\p{XDigit}{4}){3}-\\p{XDigit}{12})-)?(?<kind>.*)"
                    + "(?<number>[0-9]{" + LockNode.SEQUENCE_DIGITS + "})",
            Pattern.DOTALL);
    private static final Pattern WITH_PAYLOAD = Pattern.compile("(?<kind>[^.]*\\.)(?<payload>[A-Za-z0-9._~]{0,80})-");

    private final String text;

    Kind(String text) {
        this.text = text;
    }

    /**
     * A node whose name has the form of a lock node.
     *
     * @param kind what it asks for
     * @param node its parts
     */
    record Named(Kind kind, LockNode node) {}

    /** Reads the name of a child; empty if it has not the form of a lock node. */
    static Optional<Named> read(String childName) {
        for (Kind kind : values()) {
            Optional<LockNode> node = kind.parse(childName);
            if (node.isPresent()) {
                return Optional.of(new Named(kind, node.get()));
            }
        }
        return Optional.empty();
    }

    private Optional<LockNode> parse(String childName) {
        return switch (this) {
            case MUTEX, READ, WRITE, CURATOR_LEASE -> LockNode.parse(childName, text);
            case PERMITS ->
                LockNode.parseWithPayload(childName, text)
                        .filter(node -> Limit.permits(node.payload()).isPresent());
            case OTHER -> other(childName);
        };
    }

    private static Optional<LockNode> other(String childName) {
        Matcher form = FORM.matcher(childName);
        if (!LockNode.isLockForm(childName) || !form.matches()) {
            return Optional.empty();
        }
        String kind = form.group("kind");
        long number = Long.parseLong(form.group("number"));
        Matcher parts = WITH_PAYLOAD.matcher(kind);
        return Optional.of(
                parts.matches()
                        ? new LockNode(childName, parts.group("kind"), parts.group("payload"), number)
                        : new LockNode(childName, kind, "", number));
    }
}

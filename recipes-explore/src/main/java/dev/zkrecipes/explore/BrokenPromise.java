// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

/** Thrown to end a schedule in which a promise was broken. */
final class BrokenPromise extends Error {
    private static final long serialVersionUID = 1;

    private final String rule;

    BrokenPromise(String rule, String message) {
        super(message, null, false, false);
        this.rule = rule;
    }

    String rule() {
        return rule;
    }

    String seen() {
        String message = getMessage();
        return message == null ? "" : message;
    }
}

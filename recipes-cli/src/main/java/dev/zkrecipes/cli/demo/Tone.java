// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/** The meaning of a text, and its colour on a terminal. */
enum Tone {
    PLAIN(""),
    QUIET("2"),
    STRONG("1"),
    GOOD("32"),
    NOTE("33"),
    BAD("1;31");

    private final String code;

    Tone(String code) {
        this.code = code;
    }

    String paint(String text) {
        return code.isEmpty() ? text : "\033[" + code + "m" + text + "\033[0m";
    }
}

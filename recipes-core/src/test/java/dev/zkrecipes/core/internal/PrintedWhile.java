// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What is logged while something runs. */
public final class PrintedWhile {
    private PrintedWhile() {}

    /** Runs this with a standard error of its own. */
    public static String running(Runnable action) {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(terminal);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}

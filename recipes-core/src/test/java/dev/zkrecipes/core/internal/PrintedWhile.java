// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

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

    /** Runs this, and returns the lines of the log of locks; the usual level of unit tests leaves them out. */
    public static List<String> warningsOfLocks(Runnable action) throws ReflectiveOperationException {
        Logger log = LoggerFactory.getLogger("dev.zkrecipes.locks");
        Field level = log.getClass().getDeclaredField("currentLogLevel");
        level.setAccessible(true);
        int usual = level.getInt(log);
        level.setInt(log, Level.WARN.toInt());
        try {
            return running(action).lines().toList();
        } finally {
            level.setInt(log, usual);
        }
    }
}

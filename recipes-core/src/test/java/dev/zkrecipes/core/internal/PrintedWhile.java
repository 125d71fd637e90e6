// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
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

    /** Runs this, and returns what the calling thread prints. A late thread of an earlier test may print beside it. */
    public static String running(Runnable action) {
        PrintStream terminal = System.err;
        Thread caller = Thread.currentThread();
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        OutputStream byThread = new OutputStream() {
            private OutputStream own() {
                return Thread.currentThread() == caller ? printed : terminal;
            }

            @Override
            public void write(int b) throws IOException {
                own().write(b);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                own().write(bytes, offset, length);
            }
        };
        System.setErr(new PrintStream(byThread, true, StandardCharsets.UTF_8));
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

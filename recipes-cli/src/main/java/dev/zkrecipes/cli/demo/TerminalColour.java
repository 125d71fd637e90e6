// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.Console;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Whether to print in colour. */
final class TerminalColour {
    private TerminalColour() {}

    static boolean isWanted(Map<String, String> environment) {
        return environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !environment.getOrDefault("TERM", "dumb").equals("dumb")
                && isTerminal(System.console());
    }

    /** From JDK 22 on there is a console without a terminal too, and a method to tell. */
    private static boolean isTerminal(@Nullable Console console) {
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException e) {
            return false;
        }
    }
}

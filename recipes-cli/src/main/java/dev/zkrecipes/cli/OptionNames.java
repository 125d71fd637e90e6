// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * How errors name an option that has several names: picocli takes the longest, which may be an alias that nobody typed.
 */
final class OptionNames {
    /** The usual short and long name; what is declared after them is an alias. */
    private static final int USUAL = 2;

    private OptionNames() {}

    /** The message with the usual names of the option that it complains of: {@code -w/--wait} for {@code --timeout}. */
    static String usual(String message, CommandSpec command) {
        for (OptionSpec option : command.options()) {
            String longest = quoted(option.longestName());
            int begin = message.indexOf(longest);
            if (begin >= 0 && option.names().length > 1) {
                String usual = Arrays.stream(option.names()).limit(USUAL).collect(Collectors.joining("/"));
                return message.substring(0, begin) + quoted(usual) + message.substring(begin + longest.length());
            }
        }
        return message;
    }

    private static String quoted(String name) {
        return "option '" + name + "'";
    }
}

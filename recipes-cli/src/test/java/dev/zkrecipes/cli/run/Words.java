// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.util.regex.Pattern;

/** A command line as a shell splits it, with single quotes only. */
final class Words {
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\\S+");

    private Words() {}

    static String[] split(String line) {
        return WORD.matcher(line.strip())
                .results()
                .map(word -> word.group(1) == null ? word.group() : word.group(1))
                .toArray(String[]::new);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the usual command lines of {@code zklock run} without picocli. Picocli takes longer to read the annotations
 * of all options than a JVM takes to start.
 *
 * <p>This class knows one name of each option, and the usual ways to give a value. It leaves everything else to
 * picocli: other names, several short options in one word, help, and values that cannot be read.
 */
final class UsualLine {
    private UsualLine() {}

    /**
     * Reads a line into {@code options}. Returns whether it could read all of the line. If not, the options must not
     * be used, because some of them may be set.
     */
    static boolean read(List<String> line, LockingOptions options) {
        Set<String> given = new HashSet<>();
        int next = 0;
        while (next < line.size() && line.get(next).startsWith("-")) {
            String word = line.get(next++);
            int equals = word.startsWith("--") ? word.indexOf('=') : -1;
            String option = equals < 0 ? word : word.substring(0, equals);
            if (!given.add(option)) {
                return false;
            }
            if (equals >= 0 || !options.take(option)) {
                String value = equals >= 0 ? word.substring(equals + 1) : next < line.size() ? line.get(next++) : "";
                if (value.isEmpty() || value.startsWith("-") || !options.take(option, value)) {
                    return false;
                }
            }
        }
        options.takeWords(line.subList(next, line.size()));
        return true;
    }
}

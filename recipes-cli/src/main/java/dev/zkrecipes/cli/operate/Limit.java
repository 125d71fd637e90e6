// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import com.google.common.base.Splitter;
import com.google.common.primitives.Ints;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The limit of a semaphore, as the data of its path has it: {@code docs/versions.md}.
 *
 * @param configured what all its users name in their code
 * @param current the limit in force
 */
record Limit(int configured, int current) {

    /** The limit in these data; empty if they are something else. */
    static Optional<Limit> decode(byte[] data) {
        List<String> lines = Splitter.on('\n').splitToList(new String(data, StandardCharsets.UTF_8));
        if (!lines.get(0).equals("zkrecipes 1")) {
            return Optional.empty();
        }
        Optional<Integer> configured = number(lines, "configured=");
        Optional<Integer> current = number(lines, "current=");
        return configured.flatMap(made -> current.map(now -> new Limit(made, now)));
    }

    boolean isResized() {
        return configured != current;
    }

    private static Optional<Integer> number(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .flatMap(line -> permits(line.substring(name.length())).stream())
                .findFirst();
    }

    /** A number of permits: at least 1, decimal, without leading zeros. */
    static Optional<Integer> permits(String text) {
        Integer number = Ints.tryParse(text);
        return number != null && number >= 1 && text.equals(number.toString()) ? Optional.of(number) : Optional.empty();
    }
}

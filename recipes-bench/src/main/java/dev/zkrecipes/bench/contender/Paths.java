// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.List;
import java.util.stream.IntStream;

/** The paths of a case that needs several. */
final class Paths {
    private Paths() {}

    static List<String> below(String path, int count) {
        return IntStream.range(0, count).mapToObj(i -> path + "/" + i).toList();
    }
}

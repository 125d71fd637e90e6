// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Where a turn takes place.
 *
 * @param connectString where contenders connect: the server, or the proxy before it
 * @param path an unused path
 */
public record Site(String connectString, String path) {
    /** Paths below it, by their numbers from 0. */
    public List<String> paths(int count) {
        return IntStream.range(0, count).mapToObj(i -> path + "/" + i).toList();
    }
}

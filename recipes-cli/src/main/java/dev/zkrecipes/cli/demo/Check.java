// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.List;

/**
 * One thing that was checked.
 *
 * @param ok whether it is as it must be
 * @param subject one word
 * @param finding what was found
 */
record Check(boolean ok, String subject, String finding) {
    /** At the end nothing is left behind, unless something could not be removed. */
    static Check nothingLeft(List<String> failures) {
        return new Check(
                failures.isEmpty(),
                "clean-up",
                failures.isEmpty() ? "no process, no file and no node is left" : String.join("; ", failures));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import java.util.List;

/** The paths to list. Equal queries share the answer. */
public record ListQuery(List<Part> parts) {
    /** By hand, as in all keys of maps that each acquire uses: a JVM takes long to make the usual one at first use. */
    @Override
    public int hashCode() {
        return parts.hashCode();
    }

    /** One path to list, with its data if that has a rule. */
    public record Part(String path, boolean withRule) {
        @Override
        public int hashCode() {
            return path.hashCode() * 31 + Boolean.hashCode(withRule);
        }
    }
}

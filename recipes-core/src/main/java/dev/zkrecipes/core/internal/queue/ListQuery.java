// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import java.util.List;

/** The paths that one list request covers. Requests with equal queries share one answer. */
public record ListQuery(List<Part> parts) {
    /**
     * Written by hand, as for every map key on the path of an acquire. A JVM links the generated method of a record
     * at its first use, which takes so long that it shows in the first acquire of a process.
     */
    @Override
    public int hashCode() {
        return parts.hashCode();
    }

    /**
     * One path to list. {@code withRule} says whether to read the data and the metadata of the path together with its
     * children.
     */
    public record Part(String path, boolean withRule) {
        @Override
        public int hashCode() {
            return path.hashCode() * 31 + Boolean.hashCode(withRule);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import java.util.List;

/** The paths to list. Equal queries share the answer. */
public record ListQuery(List<Part> parts) {

    /**
     * One path to list.
     *
     * @param withRule whether to read its data, too
     */
    public record Part(String path, boolean withRule) {}
}

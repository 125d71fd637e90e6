// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.Kind.Named;
import dev.zkrecipes.cli.operate.Place.Origin;

/**
 * A child in the form of a lock node, and what was read of it.
 *
 * @param named its name
 * @param data what its data say
 * @param origin what the server knows of it
 * @param hasChildren whether there is something below it, as there never is below a node that a session owns
 */
record Node(Named named, NodeData data, Origin origin, boolean hasChildren) {

    /**
     * Whether a lock counts it. A name of a known kind counts, whoever made the node; one of another kind is just as
     * likely an item of a queue or the like, unless a session owns it.
     */
    boolean isOfLock() {
        return named.kind() != Kind.OTHER || !origin.isOrphan();
    }

    Place at(int position, Standing standing, String prefix) {
        return new Place(
                position,
                standing,
                prefix + named.node().name(),
                named.node().kind(),
                named.node().payload(),
                HoldingRule.permits(named),
                data,
                origin);
    }
}

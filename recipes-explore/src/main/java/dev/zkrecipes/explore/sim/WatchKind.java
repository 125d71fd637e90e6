// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

/** What a watch observes. The deletion of the node fires both kinds. */
enum WatchKind {
    DATA,
    CHILDREN;

    /** Returns the zxid of the latest transaction that changed what this kind watches. */
    long changedIn(TreeNode node) {
        return this == DATA ? node.mzxid() : node.pzxid();
    }

    WatchEvent change() {
        return this == DATA ? WatchEvent.DATA_CHANGED : WatchEvent.CHILDREN_CHANGED;
    }
}

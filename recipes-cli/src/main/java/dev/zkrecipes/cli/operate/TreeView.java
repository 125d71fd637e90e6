// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.time.Instant;
import java.util.List;

/**
 * The state of a path, or of all paths below it.
 *
 * @param root the path
 * @param deep whether what is below it was looked at too
 * @param seen when the server was asked, by this machine's clock
 * @param locks in the order of their paths
 * @param notes remarks for readers
 */
record TreeView(String root, boolean deep, Instant seen, List<LockView> locks, List<String> notes) {

    TreeView {
        locks = List.copyOf(locks);
        notes = List.copyOf(notes);
    }

    /** Whether there is nothing new to show. */
    boolean isSameAs(TreeView before) {
        return locks.equals(before.locks) && notes.equals(before.notes);
    }

    /** Of one path only. */
    LockView lock() {
        return locks.get(0);
    }
}

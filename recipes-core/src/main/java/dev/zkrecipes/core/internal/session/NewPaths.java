// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.handle.RecentlyUsed;
import dev.zkrecipes.core.internal.wire.LockPath;
import java.util.Map;

/**
 * Guesses whether the path of a lock is there. An application may have a lock for each order, and use each of these
 * paths once: ZooKeeper removes a container when it is empty, so nearly every path is missing. If the last paths of the
 * same folder that a session met for the first time were missing, so is the next one, probably. Then the request makes
 * the path and its node by one {@code multi}, and does not ask first.
 *
 * <p>A wrong guess costs a round trip. So after one, the next paths of the folder are asked for again. Paths that a
 * session knows are not guessed about. Confined to the engine thread.
 */
public final class NewPaths {
    /** How many paths in a row have to be missing before the next one is expected to be missing. */
    private static final int ENOUGH = 2;

    /** How many missing paths make up for a {@code multi} that was refused. */
    private static final int PENALTY = 8;

    private final Map<String, Integer> missing = new RecentlyUsed<>(); // paths of a folder that were, in a row

    NewPaths() {}

    private int missingNear(String path) {
        return missing.getOrDefault(LockPath.parent(path), 0);
    }

    /** Whether the path is probably missing. */
    public boolean isLikely(String path) {
        return missingNear(path) >= ENOUGH;
    }

    /** Whether the path, if it is missing, is made together with the first node below it. */
    public boolean isMadeWithNode(String path) {
        return !path.equals("/") && missingNear(path) >= 0;
    }

    /** The path was missing. */
    public void onMissing(String path) {
        missing.put(LockPath.parent(path), Math.min(ENOUGH, missingNear(path) + 1));
    }

    /** A path that was met for the first time was there. */
    public void onThere(String path) {
        missing.computeIfPresent(LockPath.parent(path), (folder, before) -> Math.min(0, before));
    }

    /** The path could not be made together with a node. */
    public void onRefused(String path) {
        missing.put(LockPath.parent(path), -PENALTY);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.handle.RecentlyUsed;
import dev.zkrecipes.core.internal.wire.LockPath;
import java.util.List;
import java.util.Map;

/**
 * Guesses whether the path of a lock exists. An application may have a lock for each order, and use each of these paths
 * once. ZooKeeper removes a container when it is empty, so nearly every such path is missing. If the last paths in the
 * same folder that a session used for the first time were missing, the next one probably is, too. Then the request
 * creates the path and its node by one {@code multi}, without asking first.
 *
 * <p>A wrong guess costs a round trip. So after one, the next paths in the folder are assumed to exist. There is no
 * guess for paths that a session has used already. Confined to the engine thread.
 */
public final class NewPaths {
    /** How many paths in a row must be missing before the next one is expected to be missing. */
    private static final int ENOUGH = 2;

    /** How many missing paths make up for one refused {@code multi}. */
    private static final int PENALTY = 8;

    // By folder: how many paths were missing in a row; negative after a refusal.
    private final Map<String, Integer> missing = new RecentlyUsed<>();

    NewPaths() {}

    private int missingNear(String path) {
        return missing.getOrDefault(LockPath.parent(path), 0);
    }

    /** Whether the path is probably missing. */
    public boolean isLikely(String path) {
        return missingNear(path) >= ENOUGH;
    }

    /** Whether the path, if it is missing, is created together with the first node below it. */
    public boolean isMadeWithNode(String path) {
        return !path.equals("/") && missingNear(path) >= 0;
    }

    /** Records that at least one of these paths was missing. Counts once in each folder. */
    public void onMissing(List<String> paths) {
        paths.stream()
                .map(LockPath::parent)
                .distinct()
                .forEach(folder -> missing.put(folder, Math.min(ENOUGH, missing.getOrDefault(folder, 0) + 1)));
    }

    /** Records that a path existed when it was used for the first time. */
    public void onThere(String path) {
        missing.computeIfPresent(LockPath.parent(path), (folder, before) -> Math.min(0, before));
    }

    /** Records that the path could not be created together with a node. */
    public void onRefused(String path) {
        missing.put(LockPath.parent(path), -PENALTY);
    }
}

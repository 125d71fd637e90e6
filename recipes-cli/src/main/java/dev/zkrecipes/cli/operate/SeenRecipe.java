// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.util.Set;

/** The recipe at a path, as far as its nodes show. */
enum SeenRecipe {
    /** No node of a lock. */
    NONE("free"),
    MUTEX("mutex"),
    READ_WRITE("read-write lock"),
    SEMAPHORE("semaphore"),
    /** Only the code of its users has its limit. */
    CURATOR_SEMAPHORE("Curator's semaphore"),
    /** Nodes of several recipes on one path: each recipe refuses to grant beside the other's. */
    MIXED("several recipes"),
    UNKNOWN("unknown recipe");

    private final String shown;

    SeenRecipe(String shown) {
        this.shown = shown;
    }

    static SeenRecipe of(Set<Kind> kinds) {
        if (kinds.isEmpty()) {
            return NONE;
        } else if (Set.of(Kind.READ, Kind.WRITE).containsAll(kinds)) {
            return READ_WRITE;
        } else if (kinds.size() > 1) {
            return MIXED;
        }
        return switch (kinds.iterator().next()) {
            case MUTEX -> MUTEX;
            case READ, WRITE -> READ_WRITE;
            case PERMITS -> SEMAPHORE;
            case CURATOR_LEASE -> CURATOR_SEMAPHORE;
            case OTHER -> UNKNOWN;
        };
    }

    @Override
    public String toString() {
        return shown;
    }
}

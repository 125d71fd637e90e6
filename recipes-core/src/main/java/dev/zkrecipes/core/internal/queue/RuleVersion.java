// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import org.apache.zookeeper.data.Stat;

/**
 * Which data of a path a decision was made by. A path that was deleted and made anew begins again with version 0.
 *
 * @param czxid the transaction that made the path
 * @param version the version of its data
 */
public record RuleVersion(long czxid, int version) {
    public static RuleVersion of(Stat stat) {
        return new RuleVersion(stat.getCzxid(), stat.getVersion());
    }
}

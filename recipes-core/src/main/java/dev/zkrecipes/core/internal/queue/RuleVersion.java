// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import org.apache.zookeeper.data.Stat;

/**
 * The version of the data of a path that a decision was based on. The version of a path that was deleted and recreated
 * starts at 0 again.
 *
 * @param czxid the transaction that made the path
 * @param version the version of its data
 */
public record RuleVersion(long czxid, int version) {
    public static RuleVersion of(Stat stat) {
        return new RuleVersion(stat.getCzxid(), stat.getVersion());
    }
}

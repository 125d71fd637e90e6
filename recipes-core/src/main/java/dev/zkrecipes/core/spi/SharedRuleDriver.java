// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

/**
 * A driver whose rule is in part kept in ZooKeeper, as data of the lock's own node, so that all processes decide by the
 * same rule and see it change. The semaphore keeps its limit there.
 *
 * <p>Under such a driver the lock's node is PERSISTENT: the first client that needs it creates it, with {@link
 * #initialRule()}. The engine reads the data together with each list and asks the driver that {@link #under} returns
 * for it. Waiting requests decide again when the data changes. A change never takes back held locks. So two rules in
 * succession may grant nodes that hold together although neither rule alone would have granted them all.
 *
 * <p>{@link #decide} of the driver itself decides as under its initial rule.
 */
public interface SharedRuleDriver extends LockDriver {

    /**
     * The data with which this user makes the lock's node.
     *
     * @return the data, not empty; the caller's to keep
     */
    byte[] initialRule();

    /**
     * The driver under the rule that a lock's node holds. Decides on the same nodes.
     *
     * @param rule the data of the lock's node
     * @return the driver
     * @throws RuntimeException if the data is not understood, or this user cannot go along with it: the acquire fails
     *     with {@link dev.zkrecipes.core.LockRefusedException}
     */
    LockDriver under(byte[] rule);
}

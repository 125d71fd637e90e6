// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import java.util.Optional;

/**
 * A driver whose rule is in part kept in ZooKeeper, as data of the lock's own node, so that all processes decide by the
 * same rule and see it change. The semaphore keeps its limit there.
 *
 * <p>Under such a driver the lock's node is PERSISTENT: the first client that needs it creates it, with
 * {@link #initialRule()}. The engine reads the data together with each list and asks the driver that {@link #under}
 * returns for it. Waiting requests decide again when the data changes. A change never takes back held locks. So two
 * rules in succession may grant nodes that hold together although neither rule alone would have granted them all.
 *
 * <p>{@link #decide} of this driver itself applies the initial rule.
 */
public interface SharedRuleDriver extends LockDriver {

    /**
     * {@return the data with which this user creates the lock's node, not empty; the array then belongs to the caller}
     */
    byte[] initialRule();

    /**
     * Returns the driver for the rule that a lock's node holds. It decides on the same nodes.
     *
     * @param rule the data of the lock's node
     * @return the driver
     * @throws RuntimeException if the data is not understood, or this user cannot accept it: the acquire fails with
     *     {@link dev.zkrecipes.core.LockRefusedException}
     */
    LockDriver under(byte[] rule);

    /**
     * Returns a driver that grants everything that was granted under any earlier rule. A request that came before the
     * last change, and that this driver grants, may hold the lock although the current rule does not grant it:
     * {@link dev.zkrecipes.core.Revoker} asks it, too. By default, a change of the rule never leaves such holders.
     *
     * @param rule the data of the lock's node
     * @return the driver; empty if the current rule grants every holder
     * @throws RuntimeException as {@link #under}
     */
    default Optional<LockDriver> underEarlier(byte[] rule) {
        return Optional.empty();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import java.util.Optional;

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

    /** {@return the data with which this user makes the lock's node, not empty; the caller's to keep} */
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

    /**
     * A driver that grants all that was granted under any earlier rule. A request that came before the last change, and
     * that this driver grants, may hold the lock though the present rule does not grant it:
     * {@link dev.zkrecipes.core.Revoker} asks it too. The default says that a change of the rule never leaves such
     * holders.
     *
     * @param rule the data of the lock's node
     * @return the driver; empty if the present rule grants whatever holds
     * @throws RuntimeException as {@link #under}
     */
    default Optional<LockDriver> underEarlier(byte[] rule) {
        return Optional.empty();
    }
}

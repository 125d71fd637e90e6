// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import java.util.List;
import java.util.Optional;

/**
 * Decides who holds a lock. A driver names the nodes of its queue, recognises them, and decides whether a node may hold
 * the lock, given the nodes in front of it. {@link LockInternals} does everything else.
 *
 * <p>A driver must be a pure function of its arguments and may be called from any thread.
 *
 * <p><b>A driver is a value: it is the rule of its lock.</b> Two equal drivers are the same rule. A thread that holds a
 * path under one of them may re-enter under the other, through any lock object. A thread that holds a path under one
 * rule and requests it under another is refused, as it would wait for itself. So make a driver a record, or implement
 * {@code equals} and {@code hashCode}. A driver without them equals only itself: then share one instance among the
 * locks of a path.
 *
 * <p>What only this request asks for, such as a number of permits, belongs in the {@linkplain #nodeName() name} of its
 * nodes, and two requests with different names are never mistaken for each other. So {@code equals} need not compare
 * it. If many requests wait on one path, leave it out: the engine sorts a queue once for all equal drivers, and once
 * more for each driver that equals no other.
 *
 * <p>Of the numbers of nodes only the order has a meaning: requests that leave, in any order, leave gaps.
 *
 * <p>A driver never sees the nodes behind the one it decides on, so a later arrival can never take a granted lock away.
 * Orders that depend on later arrivals (priorities, unfair locks) cannot be written as a driver.
 *
 * <p><b>Law 1.</b> If the driver grants a node with a set of predecessors, it grants the node with every subset of
 * them.
 *
 * <p><b>Law 2.</b> If the driver answers {@link Decision.WaitFor} with some nodes, it does not grant the node with any
 * set of predecessors that contains all of them: at least one must be deleted before the answer can change.
 *
 * <p><b>Law 3</b> is enforced by the engine: a node appears in front of others only if the same session already has an
 * existing node there ({@link LockGroups#modes}). The driver of that mode must not block any node that the other mode
 * lets pass. <b>Law 4</b> is that of a {@link FifoDriver}.
 *
 * <p><b>Law 5.</b> If the driver answers {@link Decision.Never} with some predecessors, it gives the same answer with
 * every subset of them, including none. Predecessors leave the queue, so they are a reason to wait and never a reason
 * to refuse.
 *
 * <p>If a driver throws, the acquire fails with {@link dev.zkrecipes.core.LockRefusedException} and its node is
 * deleted.
 */
public interface LockDriver {

    /**
     * {@return the part of the names of this request's nodes between the unique id and ZooKeeper's sequence number} It
     * is the kind with its separator, such as {@code lock-}, or {@code kind.payload-} with a payload of up to 80
     * characters of {@code A-Z a-z 0-9 . _ ~}. A new rule needs a kind of its own: the search for a
     * {@link dev.zkrecipes.core.Deadlock} takes {@code lock-} and {@code latch-} for the nodes of a
     * {@link MutexDriver}, and {@code __READ__} and {@code __WRIT__} for those of a read-write lock.
     */
    String nodeName();

    /**
     * Recognises a node of this lock. See {@link LockNode#parse} and {@link LockNode#parseWithPayload}.
     *
     * @param childName the name of a child of the lock's path
     * @return the node; empty if the name is not of a kind that this lock knows
     */
    Optional<LockNode> parse(String childName);

    /**
     * Decides whether {@code self} may hold the lock.
     *
     * @param predecessors the nodes of this lock in front of {@code self}, in order, never null, unmodifiable
     * @param self the node to decide on
     * @return the decision
     */
    Decision decide(List<LockNode> predecessors, LockNode self);
}

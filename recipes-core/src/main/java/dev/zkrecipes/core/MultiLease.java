// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.zookeeper.Op;

/**
 * One hold of several locks, as granted by a multi-lock: each of its members has a fencing token and a node. Code that
 * may receive the lease of any lock uses {@link #tokensOf} and {@link #guardsOf}.
 *
 * <p>Instances are thread-safe.
 */
public interface MultiLease extends Lease {

    /**
     * Returns the fencing token that all members have in common, because they were queued together.
     *
     * @throws IllegalStateException if they were not queued together, and so have separate tokens: see
     *     {@link #fencingTokens()}
     */
    @Override
    long fencingToken();

    /**
     * Returns the fencing token of each member.
     *
     * @return the tokens by path, unmodifiable
     * @throws LockLostException if the lease is lost
     * @throws IllegalMonitorStateException if the lease is closed
     * @throws IllegalStateException if two members, of different clients, have the same path
     * @throws UnsupportedOperationException if a member is of another library
     */
    Map<String, Long> fencingTokens();

    /**
     * Returns a check of the only node, if there is one member.
     *
     * @throws IllegalStateException if there are several, which one operation cannot check: see {@link #guards()}
     */
    @Override
    Op guard();

    /**
     * Returns the checks of all members, one operation for each: put all of them into the {@code multi}.
     *
     * @return the checks, at least one
     * @throws LockLostException if the lease is lost; and the other errors of {@link #fencingTokens()}
     */
    List<Op> guards();

    /**
     * Returns the fencing tokens of any lease: {@link #fencingTokens()}, or the single token of a lease of one lock.
     *
     * @param lease of one lock or of several
     * @return the tokens by path, unmodifiable; this method fails as {@link #fencingTokens()} does
     */
    static Map<String, Long> tokensOf(Lease lease) {
        Objects.requireNonNull(lease, "lease");
        return lease instanceof MultiLease several
                ? several.fencingTokens()
                : Map.of(lease.path(), lease.fencingToken());
    }

    /**
     * Returns the guards of any lease: {@link #guards()}, or the single guard of a lease of one lock.
     *
     * @param lease of one lock or of several
     * @return the checks, at least one; this method fails as {@link #guards()} does
     */
    static List<Op> guardsOf(Lease lease) {
        Objects.requireNonNull(lease, "lease");
        return lease instanceof MultiLease several ? several.guards() : List.of(lease.guard());
    }
}

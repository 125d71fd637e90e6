// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.zookeeper.Op;

/**
 * One hold of several locks, as a multi-lock gives it: its members have a fencing token and a node each. Code that may
 * be given any lock uses {@link #tokensOf} and {@link #guardsOf}.
 *
 * <p>Instances are thread-safe.
 */
public interface MultiLease extends Lease {

    /**
     * The fencing token that all members have in common, because they were entered together.
     *
     * @throws IllegalStateException if they were not, and so have separate tokens: see {@link #fencingTokens()}
     */
    @Override
    long fencingToken();

    /**
     * The fencing token of each member.
     *
     * @return the tokens by path, unmodifiable
     * @throws LockLostException if the lease is lost
     * @throws IllegalMonitorStateException if the lease is closed
     * @throws IllegalStateException if two members, of different clients, have the same path
     * @throws UnsupportedOperationException if a member is of another library
     */
    Map<String, Long> fencingTokens();

    /**
     * A check of the only node, if there is one member.
     *
     * @throws IllegalStateException if there are several, which one operation cannot check: see {@link #guards()}
     */
    @Override
    Op guard();

    /**
     * Checks for all members, one operation for each: put all of them into the {@code multi}.
     *
     * @return the checks, at least one
     * @throws LockLostException if the lease is lost; and the other errors of {@link #fencingTokens()}
     */
    List<Op> guards();

    /**
     * The fencing tokens of any lease: {@link #fencingTokens()}, or the one that it has.
     *
     * @param lease of one lock or of several
     * @return the tokens by path, unmodifiable; it fails as {@link #fencingTokens()} does
     */
    static Map<String, Long> tokensOf(Lease lease) {
        Objects.requireNonNull(lease, "lease");
        return lease instanceof MultiLease several
                ? several.fencingTokens()
                : Map.of(lease.path(), lease.fencingToken());
    }

    /**
     * The guards of any lease: {@link #guards()}, or the one that it has.
     *
     * @param lease of one lock or of several
     * @return the checks, at least one; it fails as {@link #guards()} does
     */
    static List<Op> guardsOf(Lease lease) {
        Objects.requireNonNull(lease, "lease");
        return lease instanceof MultiLease several ? several.guards() : List.of(lease.guard());
    }
}

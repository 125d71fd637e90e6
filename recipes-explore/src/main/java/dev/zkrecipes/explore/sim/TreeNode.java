// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.List;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * One node at one moment.
 *
 * @param owner the session of an ephemeral node; 0 for others
 * @param container whether the server removes the node once it has had children and is empty
 * @param creates the number of children that were ever created, which is the next sequence number
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record TreeNode(
        byte[] data,
        List<ACL> acl,
        long owner,
        boolean container,
        long czxid,
        long mzxid,
        long pzxid,
        long createdAt,
        long changedAt,
        int version,
        int creates,
        int children) {

    static TreeNode made(byte[] data, List<ACL> acl, long owner, boolean container, long zxid, long millis) {
        return new TreeNode(data, acl, owner, container, zxid, zxid, zxid, millis, millis, 0, 0, 0);
    }

    TreeNode withData(byte[] next, long zxid, long millis) {
        return new TreeNode(
                next, acl, owner, container, czxid, zxid, pzxid, createdAt, millis, version + 1, creates, children);
    }

    /**
     * Returns this node with one more child. At its limit the counter stops, and from then on a create does not change
     * the pzxid either.
     */
    TreeNode withAnotherChild(long zxid) {
        return creates == Integer.MAX_VALUE
                ? with(pzxid, creates, children + 1)
                : with(zxid, creates + 1, children + 1);
    }

    TreeNode withOneChildLess(long zxid) {
        return with(zxid, creates, children - 1);
    }

    TreeNode withCounter(int next) {
        return with(pzxid, next, children);
    }

    private TreeNode with(long newPzxid, int newCreates, int newChildren) {
        return new TreeNode(
                data,
                acl,
                owner,
                container,
                czxid,
                mzxid,
                newPzxid,
                createdAt,
                changedAt,
                version,
                newCreates,
                newChildren);
    }

    /** Returns the metadata that a server shows. Its cversion also counts deletions, so it differs from the counter. */
    Stat stat() {
        return new Stat(
                czxid,
                mzxid,
                createdAt,
                changedAt,
                version,
                creates * 2 - children,
                0,
                owner,
                data.length,
                children,
                pzxid);
    }
}

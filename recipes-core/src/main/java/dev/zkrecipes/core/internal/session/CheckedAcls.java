// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * The lock paths that a session has found to have the right ACLs. It remembers the node, not the name: a path that was
 * recreated, or whose ACL was changed, is another one. It remembers those used last; others are checked
 * again. Locks without an ACL of their own are not checked. Confined to the engine thread.
 */
public final class CheckedAcls {

    private record Key(String path, List<ACL> acl) {}

    private record Version(long czxid, int aversion) {
        Version(Stat stat) {
            this(stat.getCzxid(), stat.getAversion());
        }
    }

    private final RecentlyUsed<Key, Version> versions = new RecentlyUsed<>();

    /** Whether the path was found right once, so that the client has rights there. */
    public boolean knows(String path, List<ACL> acl) {
        return versions.get(new Key(path, acl)) != null;
    }

    /** Whether the path is the one that was found right. */
    public boolean isAsChecked(String path, List<ACL> acl, Optional<Stat> seen) {
        return seen.map(Version::new)
                .filter(version -> version.equals(versions.get(new Key(path, acl))))
                .isPresent();
    }

    /** The path is being made: what was found before was another one. */
    public void forget(String path, List<ACL> acl) {
        versions.remove(new Key(path, acl));
    }

    public void note(String path, List<ACL> acl, Stat found) {
        versions.put(new Key(path, acl), new Version(found));
    }
}

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

    /** A lock path, and the rights that it is to have. */
    public interface Subject {
        String path();

        /** Whether the lock has other rights than the client's default. */
        boolean hasOwnAcl();

        List<ACL> acl();
    }

    private record Key(String path, List<ACL> acl) {
        Key(Subject subject) {
            this(subject.path(), subject.acl());
        }
    }

    private record Version(long czxid, int aversion) {
        Version(Stat stat) {
            this(stat.getCzxid(), stat.getAversion());
        }
    }

    private final RecentlyUsed<Key, Version> versions = new RecentlyUsed<>();

    /** Whether the path was found right once, so that the client has rights there. */
    public boolean knows(Subject subject) {
        return !subject.hasOwnAcl() || versions.get(new Key(subject)) != null;
    }

    /** Whether the path is the one that was found right. */
    public boolean isAsChecked(Subject subject, Optional<Stat> seen) {
        return !subject.hasOwnAcl()
                || seen.map(Version::new)
                        .filter(version -> version.equals(versions.get(new Key(subject))))
                        .isPresent();
    }

    /** The path is being made: what was found before was another one. */
    public void forget(Subject subject) {
        versions.remove(new Key(subject));
    }

    public void note(Subject subject, Stat found) {
        versions.put(new Key(subject), new Version(found));
    }
}

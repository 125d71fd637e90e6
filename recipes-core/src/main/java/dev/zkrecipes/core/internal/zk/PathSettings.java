// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.internal.wire.LockPath;
import java.util.List;
import java.util.function.Function;
import org.apache.zookeeper.data.ACL;

/**
 * Where the locks of a client are: below the namespace, {@code /} for none; and with which ACL, which is checked, by
 * the whole path.
 */
public record PathSettings(String namespace, Function<String, List<ACL>> aclOf) {
    public static final String NO_NAMESPACE = "/";

    /** Locks wherever the application says, with one ACL, which was checked. */
    public static PathSettings of(List<ACL> acl) {
        return new PathSettings(NO_NAMESPACE, path -> acl);
    }

    /** The whole path of a lock; an IllegalArgumentException if it is no valid path. */
    public String whole(String path) {
        LockPath.check(path);
        if (namespace.equals(NO_NAMESPACE)) {
            return path;
        }
        return path.equals("/") ? namespace : namespace + path;
    }

    /** The rights that a lock is made with, unless it has its own; the path is the whole one. */
    public List<ACL> acl(String wholePath) {
        return aclOf.apply(wholePath);
    }
}

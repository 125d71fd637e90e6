// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.internal.wire.LockPath;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The checked settings of a client. Its locks are below the namespace, {@code /} for none, and their ACLs, unless they
 * have their own, are made of their whole paths.
 */
@SuppressWarnings("ArrayRecordComponent") // credentials are never compared or printed
public record ClientSettings(
        Duration sessionTimeout,
        @Nullable Duration requestTimeout,
        Duration closeTimeout,
        Duration firstRetryDelay,
        Duration longestRetryDelay,
        String namespace,
        Function<String, List<ACL>> aclOf,
        List<AuthInfo> auth,
        @Nullable ZKClientConfig clientConfig,
        String ownerLabel,
        @Nullable Executor callbackExecutor,
        List<LockObserver> observers,
        @Nullable Duration slowAfter,
        boolean closeOnShutdown,
        boolean persistentPaths) {

    /** The whole path of a lock; an IllegalArgumentException if it is no valid path. */
    public String whole(String path) {
        LockPath.check(path);
        if (namespace.equals("/")) {
            return path;
        }
        return path.equals("/") ? namespace : namespace + path;
    }

    public record AuthInfo(String scheme, byte[] credentials) {
        @Override
        public String toString() {
            return scheme + ":***";
        }
    }
}

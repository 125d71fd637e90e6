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
 * The validated settings of a client. All its locks are below the namespace, which is {@code /} if none was set.
 * {@code aclOf} maps the whole path of a lock to its ACL; the options of a lock may replace that.
 */
@SuppressWarnings("ArrayRecordComponent") // credentials are never compared or printed
public record ClientSettings(
        Duration sessionTimeout,
        @Nullable Duration requestTimeout, // null for a default that depends on the session time-out
        Duration closeTimeout,
        Duration firstRetryDelay,
        Duration longestRetryDelay,
        String namespace,
        Function<String, List<ACL>> aclOf,
        List<AuthInfo> auth,
        @Nullable ZKClientConfig clientConfig,
        String ownerLabel,
        @Nullable Executor callbackExecutor, // null for threads of the library
        List<LockObserver> observers,
        @Nullable Duration slowAfter, // null if slow waits are not reported
        boolean closeOnShutdown,
        boolean persistentPaths) {

    /** Returns the path of a lock, prefixed with the namespace. Throws an IllegalArgumentException if it is invalid. */
    public String whole(String path) {
        LockPath.check(path);
        if (namespace.equals("/")) {
            return path;
        }
        return path.equals("/") ? namespace : namespace + path;
    }

    /** Credentials for one scheme, which {@code toString()} does not print. */
    public record AuthInfo(String scheme, byte[] credentials) {
        @Override
        public String toString() {
            return scheme + ":***";
        }
    }
}

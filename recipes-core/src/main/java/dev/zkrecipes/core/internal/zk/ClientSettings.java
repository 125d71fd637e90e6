// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

/** The checked settings of a client. */
@SuppressWarnings("ArrayRecordComponent") // credentials are never compared or printed
public record ClientSettings(
        Duration sessionTimeout,
        @Nullable Duration requestTimeout,
        Duration firstRetryDelay,
        Duration longestRetryDelay,
        PathSettings paths,
        List<AuthInfo> auth,
        @Nullable ZKClientConfig clientConfig,
        String ownerLabel,
        @Nullable Executor callbackExecutor,
        List<LockObserver> observers,
        @Nullable Duration slowAfter,
        boolean closeOnShutdown,
        boolean persistentPaths) {

    public record AuthInfo(String scheme, byte[] credentials) {
        @Override
        public String toString() {
            return scheme + ":***";
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * What a server answered to a read.
 *
 * @param code OK, NONODE or NOAUTH: all else ends the reading
 * @param value what was read; null unless the code is OK
 * @param <T> what was read
 */
record Reply<T>(Code code, @Nullable T value) {
    boolean isOk() {
        return code == Code.OK;
    }

    T get() {
        T found = value;
        if (found == null) {
            throw new IllegalStateException("no value with " + code);
        }
        return found;
    }
}

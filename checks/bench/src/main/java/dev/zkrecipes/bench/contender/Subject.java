// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;

/** What faults are played on: the mutex of a contender, or any recipe. */
public interface Subject extends Serializable {
    /** Returns the name in reports for users. */
    String title();

    /** Opens a client without waiting for its connection. Its first request waits for that. */
    LockClient connect(String connectString, Duration sessionTimeout) throws IOException;

    /** Returns the data with which the node of a lock path is created. */
    default String pathData() {
        return "";
    }

    /** Whether holders write although they know that they may have lost the lock, and rely on tokens and guards. */
    default boolean isCareless() {
        return false;
    }
}

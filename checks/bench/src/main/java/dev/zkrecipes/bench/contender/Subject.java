// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;

/** What faults are played on: the mutex of a contender, or any recipe. */
public interface Subject extends Serializable {
    /** The name on pages for users. */
    String title();

    /** Opens a session. Its first request waits for the connection. */
    LockClient connect(String connectString, Duration sessionTimeout) throws IOException;

    /** What a lock path has as its data from the beginning. */
    default String pathData() {
        return "";
    }

    /** Whether holders write although they know that they may have lost the lock, and rely on tokens and guards. */
    default boolean isCareless() {
        return false;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.session.Session;

/** Where the sessions of a client come from. Confined to the engine thread. */
public interface SessionSource {

    interface User {
        /** The session to use now. It has not ended; it need not be connected yet. */
        void with(Session session);

        String lockPath();

        /** There is no session and there will be none. */
        void unavailable(LockException why);

        /** There is no session now; the request continues, unless it is withdrawn. */
        default void notNow(LockException why) {}
    }

    void start();

    /** Answers {@code user}, at once or later. */
    void request(User user);

    /** Withdraws a request that was not answered. */
    default void forget(User user) {}

    default void onEnded(Session session) {}

    default void stop() {}
}

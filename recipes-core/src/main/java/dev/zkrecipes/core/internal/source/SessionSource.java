// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.session.Session;

/**
 * Where the sessions of a client come from: the client opens them, wraps one handle of the application, or gets
 * handles from a supplier. Confined to the engine thread.
 */
public interface SessionSource {

    /** A user of a session. */
    interface User {
        /** Supplies the session to use from now on. It has not ended, but need not be connected yet. */
        void with(Session session);

        /** Returns the path of the lock that needs the session, for error messages. */
        String lockPath();

        /** Reports that there is no session and there will be none. */
        void unavailable(LockException why);

        /** Reports why there is no session now. The request continues to wait, unless it is withdrawn. */
        default void notNow(LockException why) {}
    }

    /** Opens the first session, or requests its handle from the supplier. */
    void start();

    /** Requests a session for {@code user}, who is answered during this call or later. */
    void request(User user);

    /** Withdraws a request that has not been answered yet. */
    default void forget(User user) {}

    /** Must be called when a session of this source has ended. */
    default void onEnded(Session session) {}

    /** Stops opening sessions, because the client is closed. */
    default void stop() {}
}

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

    /** Needs a session. */
    interface User {
        /** The session to use from now on. It has not ended, but need not be connected yet. */
        void with(Session session);

        /** The path of the lock for which the session is needed, for error messages. */
        String lockPath();

        /** There is no session and there will be none. */
        void unavailable(LockException why);

        /** There is no session now, for this reason. The request waits on, unless it is withdrawn. */
        default void notNow(LockException why) {}
    }

    /** Opens the first session, or asks for it. */
    void start();

    /** Requests a session for {@code user}, which is answered in this call or later. */
    void request(User user);

    /** Withdraws a request that was not answered yet. */
    default void forget(User user) {}

    /** A session of this source has ended. */
    default void onEnded(Session session) {}

    /** Opens no more sessions: the client is closed. */
    default void stop() {}
}

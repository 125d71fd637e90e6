// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import org.jspecify.annotations.Nullable;

/** The reason why a client has no session, as worded in errors and in the log. */
public record Obstacle(String text, Kind kind, @Nullable Throwable cause) {
    /** Whether an obstacle makes requests fail or wait. */
    public enum Kind {
        /**
         * The client cannot have the identity that it was given. Requests fail, and the client keeps trying to get
         * it.
         */
        IDENTITY,
        /** The class path lacks a class. Requests fail until the process is restarted with it. */
        PERMANENT,
        /** The obstacle may pass by itself. Requests wait for that. */
        TEMPORARY
    }

    /** A server refused the identity of this client. See {@link ZooKeeperErrors#credentialsRefused}. */
    public static final Obstacle REFUSED = ofIdentity(ZooKeeperErrors.CREDENTIALS_REFUSED, null);

    public static Obstacle ofIdentity(String text, @Nullable Throwable cause) {
        return new Obstacle(text, Kind.IDENTITY, cause);
    }

    /** Whether waiting is pointless, because this client cannot remove the obstacle by itself. */
    public boolean isForGood() {
        return kind != Kind.TEMPORARY;
    }

    /** Returns the error for the application. Its message ends with {@code consequence}. */
    public LockException error(String consequence) {
        String message = text + consequence;
        return kind == Kind.IDENTITY
                ? new LockAccessException(message, cause)
                : new LockConnectionException(message, cause);
    }
}

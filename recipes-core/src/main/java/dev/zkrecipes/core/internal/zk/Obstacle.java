// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import org.jspecify.annotations.Nullable;

/** Why a client has no session, as errors and the log say it. */
public record Obstacle(String text, Kind kind, @Nullable Throwable cause) {
    public enum Kind {
        /** The identity that the client was given cannot be had. Requests fail, and it is tried again. */
        IDENTITY,
        /** The class path lacks something. Requests fail. */
        PERMANENT,
        /** Requests wait for it to pass. */
        TEMPORARY
    }

    /** A server refused the identity; see {@link ZooKeeperErrors#credentialsRefused}. */
    public static final Obstacle REFUSED = ofIdentity(ZooKeeperErrors.CREDENTIALS_REFUSED, null);

    public static Obstacle ofIdentity(String text, @Nullable Throwable cause) {
        return new Obstacle(text, Kind.IDENTITY, cause);
    }

    /** Whether nothing that this client does by itself can help. */
    public boolean isForGood() {
        return kind != Kind.TEMPORARY;
    }

    /** The error for the application. */
    public LockException error(String consequence) {
        String message = text + consequence;
        if (kind == Kind.IDENTITY) {
            return cause == null ? new LockAccessException(message) : new LockAccessException(message, cause);
        }
        return cause == null ? new LockConnectionException(message) : new LockConnectionException(message, cause);
    }
}

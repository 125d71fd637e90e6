// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * A server, the ZooKeeper client on the class path, or the Guava there, is older than what this library works with. For
 * a jar it is thrown when the client is made; for a server, by the first request that the server does not know.
 */
public final class UnsupportedVersionException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path if there is one, what is too old, and what to do
     */
    public UnsupportedVersionException(String message) {
        super(message);
    }

    /**
     * Makes an error that another one caused.
     *
     * @param message the path if there is one, what is too old, and what to do
     * @param cause what is missing
     */
    public UnsupportedVersionException(String message, Throwable cause) {
        super(message, cause);
    }
}

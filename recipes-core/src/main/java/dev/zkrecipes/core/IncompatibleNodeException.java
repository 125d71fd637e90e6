// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The path has a child in the form of a lock node, relative to which this lock cannot determine its own place: another
 * recipe or another library uses the same path. Granting the lock could result in two holders.
 */
public final class IncompatibleNodeException extends LockRefusedException {
    private static final long serialVersionUID = 1L;

    /** The name of the node. */
    private final String node;

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     * @param node the name of the node below the lock's path
     */
    public IncompatibleNodeException(String message, String node) {
        super(message);
        this.node = node;
    }

    /**
     * {@return the name of the node below the lock's path} Any client may have chosen it, so it may contain control
     * characters, which the message shows escaped.
     */
    public String node() {
        return node;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/** The ensemble of the user does not answer, or is unsuitable for a demo. */
final class NoServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NoServerException(String message) {
        super(message);
    }
}

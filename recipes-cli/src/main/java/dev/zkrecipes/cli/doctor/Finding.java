// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

/**
 * One line of the doctor's.
 *
 * @param ok whether there is nothing to do
 * @param subject what was looked at
 * @param text what was found and, if it is not well, what to do
 */
record Finding(boolean ok, String subject, String text) {
    static Finding ok(String subject, String text) {
        return new Finding(true, subject, text);
    }

    static Finding bad(String subject, String text) {
        return new Finding(false, subject, text);
    }
}

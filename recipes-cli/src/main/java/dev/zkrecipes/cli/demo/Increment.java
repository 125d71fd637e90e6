// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/**
 * A worker has written the counter file.
 *
 * @param worker the number of the worker
 * @param value the value that it wrote
 * @param token the token of its lease
 * @param found the token that it found in the file; 0 if there was no file
 */
record Increment(int worker, long value, long token, long found) {
    static Increment of(Event event) {
        return new Increment(event.worker(), event.number("value"), event.number("token"), event.number("found"));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/**
 * Somebody got the lock.
 *
 * @param worker the number of the worker
 * @param token the fencing token
 * @param nanos when the demo heard of it
 */
record Grant(int worker, long token, long nanos) {
    static Grant of(Arrival arrival) {
        return new Grant(arrival.event().worker(), arrival.event().number("token"), arrival.nanos());
    }
}

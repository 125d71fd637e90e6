// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.waiting;

/**
 * The cost of a hand-over for the server.
 *
 * @param way how the clients wait
 * @param waiters how many wait
 * @param requests the requests received
 * @param events the events sent
 */
public record HandOverCost(Way way, int waiters, double requests, double events) {}

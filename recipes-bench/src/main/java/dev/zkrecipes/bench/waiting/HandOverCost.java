// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.waiting;

/**
 * What a hand-over cost the server.
 *
 * @param way how the clients wait
 * @param waiters how many wait
 * @param requests that the server got
 * @param events that it sent
 */
public record HandOverCost(Way way, int waiters, double requests, double events) {}

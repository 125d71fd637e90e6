// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

/** What a scenario can do to the workers. */
interface Direction {
    /** Gives a worker an order; one that has ended ignores it. */
    void order(int worker, Order order);

    /** Ends a worker as {@code kill -9} does. */
    void kill(int worker);
}

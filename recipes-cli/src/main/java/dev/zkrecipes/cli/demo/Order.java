// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** An order of the demo to a child: one word on a line of the child's standard input. */
enum Order {
    /** Start to work. */
    BEGIN,
    /** Hold the lock and do nothing, at the next acquire. */
    IDLE,
    /** Release what you hold, close and end. */
    STOP;

    String line() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<Order> parse(String line) {
        return Arrays.stream(values())
                .filter(order -> order.line().equals(line))
                .findFirst();
    }
}

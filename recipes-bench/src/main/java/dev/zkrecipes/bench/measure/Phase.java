// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

/** The parts of a turn, in their order. */
enum Phase {
    WARMING_UP,
    COUNTING,
    OVER
}

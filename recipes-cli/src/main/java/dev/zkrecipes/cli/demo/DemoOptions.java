// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Optional;

/**
 * What the user wants to see.
 *
 * @param recipe which recipe
 * @param workers how many worker processes
 * @param time how long they work
 * @param connectString where the ensemble is; empty to start a server
 * @param tick the tick time of that ensemble
 */
record DemoOptions(DemoRecipe recipe, int workers, Duration time, Optional<String> connectString, Duration tick) {
    static final int LEAST_WORKERS = 2;
    static final int MOST_WORKERS = 20;
    static final int LEAST_SECONDS = 5;
    static final int MOST_SECONDS = 3600;
}

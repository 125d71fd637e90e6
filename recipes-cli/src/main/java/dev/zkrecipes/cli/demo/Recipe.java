// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.Locale;

/** What can be shown. */
enum Recipe {
    MUTEX {
        @Override
        String title(int workers) {
            return workers + " processes, one mutex, one counter file, one kill -9";
        }

        @Override
        Scenario scenario(Stage stage) {
            return new MutexScenario(stage);
        }

        @Override
        WorkerBody worker() {
            return new MutexWorker();
        }
    };

    /** What is going to be seen, in one line. */
    abstract String title(int workers);

    /** The demo's part. */
    abstract Scenario scenario(Stage stage);

    /** The part of each worker process. */
    abstract WorkerBody worker();

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

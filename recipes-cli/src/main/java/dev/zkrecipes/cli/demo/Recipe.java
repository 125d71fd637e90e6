// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.Locale;

/** A recipe that the demo can show. */
enum Recipe {
    MUTEX("one mutex, one counter file") {
        @Override
        Plot plot(Stage stage) {
            return new MutexPlot(stage);
        }

        @Override
        WorkerBody worker() {
            return new MutexWorker();
        }
    },
    RWLOCK("one read-write lock, one record") {
        @Override
        Plot plot(Stage stage) {
            return new ShowPlot(new ReadWriteShow(), stage);
        }

        @Override
        WorkerBody worker() {
            return new ShowWorker(new ReadWriteShow());
        }
    },
    SEMAPHORE("one semaphore of " + SemaphoreShow.LIMIT) {
        @Override
        Plot plot(Stage stage) {
            return new ShowPlot(new SemaphoreShow(), stage);
        }

        @Override
        WorkerBody worker() {
            return new ShowWorker(new SemaphoreShow());
        }
    },
    MULTILOCK("two of " + MultiLockShow.ACCOUNTS + " accounts at a time") {
        @Override
        Plot plot(Stage stage) {
            return new ShowPlot(new MultiLockShow(), stage);
        }

        @Override
        WorkerBody worker() {
            return new ShowWorker(new MultiLockShow());
        }
    };

    private final String subject;

    Recipe(String subject) {
        this.subject = subject;
    }

    /** What the demo shows, in one line. */
    String title(int workers) {
        return workers + " processes, " + subject + ", one kill -9";
    }

    /** The demo's part. */
    Scenario scenario(Stage stage) {
        return new KillScenario(stage, plot(stage));
    }

    /** The part of the demo that depends on the recipe. */
    abstract Plot plot(Stage stage);

    /** The part of each worker process. */
    abstract WorkerBody worker();

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

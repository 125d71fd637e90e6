// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.Locale;

/** A recipe that the demo can show. */
enum DemoRecipe {
    MUTEX("one mutex, one counter file") {
        @Override
        Plot plot(ScenarioMeans means) {
            return new MutexPlot(means);
        }

        @Override
        WorkerBody worker() {
            return new MutexWorker();
        }
    },
    RWLOCK("one read-write lock, one record") {
        @Override
        Plot plot(ScenarioMeans means) {
            return new ShowPlot(new ReadWriteShow(), means);
        }

        @Override
        WorkerBody worker() {
            return new ShowWorker(new ReadWriteShow());
        }
    },
    SEMAPHORE("one semaphore of " + SemaphoreShow.LIMIT) {
        @Override
        Plot plot(ScenarioMeans means) {
            return new ShowPlot(new SemaphoreShow(), means);
        }

        @Override
        WorkerBody worker() {
            return new ShowWorker(new SemaphoreShow());
        }
    },
    MULTILOCK("two of " + MultiLockShow.ACCOUNTS + " accounts at a time") {
        @Override
        Plot plot(ScenarioMeans means) {
            return new ShowPlot(new MultiLockShow(), means);
        }

        @Override
        WorkerBody worker() {
            return new ShowWorker(new MultiLockShow());
        }
    };

    private final String subject;

    DemoRecipe(String subject) {
        this.subject = subject;
    }

    /** What the demo shows, in one line. */
    String title(int workers) {
        return workers + " processes, " + subject + ", one kill -9";
    }

    /** The demo's part. */
    Scenario scenario(ScenarioMeans means) {
        return new KillScenario(means, plot(means));
    }

    /** The part of the demo that depends on the recipe. */
    abstract Plot plot(ScenarioMeans means);

    /** The part of each worker process. */
    abstract WorkerBody worker();

    /** As on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

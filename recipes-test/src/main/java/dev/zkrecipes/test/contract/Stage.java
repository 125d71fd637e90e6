// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * The setting of a suite's tests: one server and the same two clients, and a separate scene for each test. A test that
 * hangs fails, even in a wait that no interrupt ends, because it has its own thread.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper(tickTimeMillis = 100)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class Stage {
    EmbeddedZooKeeper server;
    Contenders contenders;
    Workers workers;
    Scene scene;

    Stage() {}

    /** {@return the recipe under test, the same at each call} */
    protected abstract Recipe recipe();

    @BeforeAll
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        contenders = Contenders.open(server, recipe());
    }

    @AfterAll
    void close() {
        contenders.close();
    }

    /**
     * A failed test may have left anything behind: the next one begins with new clients, so that only its own failures
     * count.
     */
    @BeforeEach
    void set() throws InterruptedException {
        if (!contenders.isClean()) {
            contenders.close();
            contenders = Contenders.open(server, recipe());
        }
        scene = Scene.of(contenders);
        workers = new Workers();
    }

    @AfterEach
    void endWorkers() {
        workers.close();
    }
}

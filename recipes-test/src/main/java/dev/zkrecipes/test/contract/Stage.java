// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * The setting of a suite: one server and the same two clients for all tests, and a separate scene for each test. Each
 * test has its own thread. So a test that hangs fails, even in a wait that no interrupt ends.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper(tickTimeMillis = 100)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class Stage {
    EmbeddedZooKeeper server;
    Contenders contenders;
    Workers workers;
    Scene scene;
    InterProcessLock lock;

    Stage() {}

    /** {@return the recipe under test, the same in each call} */
    protected abstract Recipe recipe();

    /** The session time-out of the client under test. */
    Duration sessionTimeout() {
        return Contenders.SESSION;
    }

    @BeforeAll
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        contenders = Contenders.open(server, recipe(), sessionTimeout());
    }

    @AfterAll
    void close() {
        contenders.close();
    }

    /**
     * Prepares a test. A failed test may have left anything behind, and some tests close their client. The next test
     * then starts with new clients, so that it fails only for its own reasons.
     */
    @BeforeEach
    void set() throws InterruptedException {
        if (!contenders.isClean()) {
            contenders.close();
            contenders = Contenders.open(server, recipe(), sessionTimeout());
        }
        scene = Scene.of(contenders);
        lock = scene.lock;
        workers = new Workers();
    }

    @AfterEach
    void endWorkers() {
        workers.close();
    }
}

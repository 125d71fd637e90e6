// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** The setting of tests that change everything: each has its own clients. Otherwise as {@link Stage}. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper(tickTimeMillis = 100)
abstract class OwnStage {
    EmbeddedZooKeeper server;
    Contenders contenders;
    Scene scene;
    InterProcessLock lock;

    OwnStage() {}

    /** {@return the recipe under test, the same at each call} */
    protected abstract Recipe recipe();

    /** How long the sessions live when nothing is heard of them. */
    Duration sessionTimeout() {
        return Contenders.SESSION;
    }

    @BeforeEach
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        open(sessionTimeout());
    }

    /** A stage with another session time-out than the other tests. */
    final void reopen(Duration session) throws InterruptedException {
        contenders.close();
        open(session);
    }

    private void open(Duration session) throws InterruptedException {
        contenders = Contenders.open(server, recipe(), session);
        scene = Scene.of(contenders);
        lock = scene.lock;
    }

    @AfterEach
    void close() {
        contenders.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.MutexDriver;
import java.util.List;
import java.util.stream.Stream;

/** Requests for a lock that passes on inside the process, twice in a row, of a client whose sessions are scripted. */
abstract class LocalQueueScene {
    static final LockOptions OPTIONS = LockOptions.defaults().localHandoffs(2);

    final AcquireFixture fixture = new AcquireFixture();
    final ManualScheduler scheduler = fixture.scheduler;
    final ScriptedOperations operations = fixture.operations;

    Acquisition launched(Mode mode, boolean isAsynchronous, LockDriver driver, LockOptions options) {
        Acquisition request =
                fixture.engine.acquisitions().of(LockGroup.of(fixture.spec(driver, options)), mode, isAsynchronous);
        request.launch();
        return request;
    }

    /** Requests that came in this order and went on as far as they can. */
    List<Acquisition> queueing(int count, LockOptions options) {
        scheduler.run();
        List<Acquisition> all = Stream.generate(() -> launched(Mode.QUEUE, false, new MutexDriver(), options))
                .limit(count)
                .toList();
        scheduler.run();
        operations.requests();
        return all;
    }

    List<Acquisition> queueing(int count) {
        return queueing(count, OPTIONS);
    }

    static HeldNode granted(Acquisition request) {
        assertThat(request.outcome()).isCompletedWithValueMatching(grants -> grants.isPresent());
        return request.outcome().join().orElseThrow().get(0);
    }

    static void release(HeldNode held) {
        HeldNodes.release(List.of(held));
    }

    void assertLeftNothing() {
        fixture.assertLeftNothing();
        assertThat(fixture.engine.acquisitions().localQueues().isEmpty()).isTrue();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.client.LivingSessions;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.spi.LockDriver;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Requests of a client for the lock {@value #PATH}. */
abstract class AcquireFixture extends ClientScene {
    static final String PATH = "/locks/orders";
    /** A node of somebody else, in front of all that are made here. */
    static final String OTHER = "lock-0000000000";

    final Duration timeout = operations.sessionTimeout();
    final EngineClient engine = EngineClient.of(client);

    LockSpec spec(LockDriver driver, LockOptions options) {
        return specAt(PATH, driver, options);
    }

    LockSpec specAt(String path, LockDriver driver, LockOptions options) {
        return new LockSpec(engine.settings().aclOf().apply("/"), path, driver, options);
    }

    LockGroup mutexAt(String path) {
        return LockGroup.of(specAt(path, new TestDriver("lock-"), LockOptions.defaults()));
    }

    /** Mutexes on several paths, as one. */
    LockGroup together(LockOptions ofEach, String... paths) {
        List<LockSpec> group = Stream.of(paths)
                .map(path -> specAt(path, new TestDriver("lock-"), ofEach))
                .toList();
        return LockGroup.together(group, LockOptions.defaults());
    }

    LockSpec spec(LockDriver driver) {
        return spec(driver, LockOptions.defaults());
    }

    /** A request that has begun and sent nothing yet, in a session that is there. */
    AcquireLoop launched(LockGroup group, Mode mode) {
        scheduler.run();
        operations.requests();
        AcquireLoop loop = new AcquireLoop(engine.requests(), group, mode, List.of());
        loop.launch();
        return loop;
    }

    AcquireLoop launched(Mode mode, LockDriver driver, LockOptions options) {
        return launched(LockGroup.of(spec(driver, options)), mode);
    }

    AcquireLoop launched(Mode mode) {
        return launched(mode, new TestDriver("lock-"), LockOptions.defaults());
    }

    /** A request that begins while something else is under way. */
    AcquireLoop launchedBehind(Mode mode) {
        AcquireLoop loop =
                new AcquireLoop(engine.requests(), LockGroup.of(spec(new TestDriver("lock-"))), mode, List.of());
        loop.launch();
        return loop;
    }

    /** What an acquire and a release send that nobody disturbs. */
    List<Request> cycle(LockGroup group) {
        AcquireLoop loop = launched(group, Mode.QUEUE);
        scheduler.run();
        loop.outcome().join().orElseThrow().release();
        scheduler.run();
        return operations.requests();
    }

    /** Requests that begin before any of them is answered. */
    List<AcquireLoop> launchedTogether(int count, LockDriver driver) {
        scheduler.run();
        LockGroup group = LockGroup.of(spec(driver));
        List<AcquireLoop> loops = Stream.generate(
                        () -> new AcquireLoop(engine.requests(), group, Mode.QUEUE, List.of()))
                .limit(count)
                .toList();
        loops.forEach(AcquireLoop::launch);
        return loops;
    }

    /** A request that has gone on as far as it can. */
    AcquireLoop queueing(LockDriver driver) {
        AcquireLoop loop = launched(Mode.QUEUE, driver, LockOptions.defaults());
        scheduler.run();
        return loop;
    }

    AcquireLoop queueing() {
        return queueing(new TestDriver("lock-"));
    }

    /** The names of the nodes that were made here, in the order of their making. */
    List<String> ours() {
        return operations.nodes().stream()
                .filter(name -> name.length() > NodeId.LENGTH)
                .sorted((one, other) -> number(one).compareTo(number(other)))
                .toList();
    }

    private static String number(String name) {
        return name.substring(name.length() - 10);
    }

    String newest() {
        List<String> all = ours();
        return all.get(all.size() - 1);
    }

    HeldNode assertGranted(AcquireLoop loop) {
        assertThat(loop.outcome()).isCompletedWithValueMatching(grants -> grants.isPresent());
        HeldNode held = (HeldNode) loop.outcome().join().orElseThrow().first();
        assertThat(held.state()).isEqualTo(LeaseState.HELD);
        assertThat(operations.nodes()).contains(LockPath.name(held.nodePath()));
        return held;
    }

    /** Its node is gone, so it is not granted before it has another one. */
    void assertGrantedOnAnother(AcquireLoop loop, String lost) {
        assertThat(loop.outcome()).isNotDone();
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(LockPath.name(assertGranted(loop).nodePath())).isNotEqualTo(lost);
        assertNobodyWaits();
    }

    static void assertWaits(AcquireLoop loop) {
        assertThat(loop.outcome()).isNotDone();
        assertThat(loop.isIn(AcquireLoop.Step.WAITING)).isTrue();
    }

    void assertFailed(AcquireLoop loop, Class<? extends LockException> type, String message) {
        assertThat(loop.outcome()).isCompletedExceptionally();
        assertThatThrownBy(loop.outcome()::join)
                .cause()
                .isExactlyInstanceOf(type)
                .hasMessageContaining(PATH)
                .hasMessageContaining(message);
        assertLeftNothing();
    }

    /** Nobody is under way, and no node of ours is left, nor a watch, nor a view that is kept for a minute. */
    void assertLeftNothing() {
        scheduler.advance(Duration.ofMinutes(1));
        assertThat(ours()).as("left behind").isEmpty();
        assertThat(operations.watched()).isEmpty();
        assertThat(engine.cleaner().isEmpty()).isTrue();
        assertNobodyWaits();
        LivingSessions.of(engine)
                .forEach(session -> assertThat(session.watches().isEmpty()).isTrue());
    }

    /** Nothing is kept for requests that are over, but for the watch of a node that is held. */
    void assertNobodyWaits() {
        assertThat(engine.requests().open()).isEmpty();
        assertThat(engine.requests()).extracting("queues", MAP).isEmpty();
        assertThat(operations.watchedForDeletion()).isSubsetOf(ours());
    }
}

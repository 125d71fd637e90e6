// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The suites find what is wrong with a lock, and nothing with a sound one. */
@Timeout(120)
class BrokenLocksIT {
    private static final Recipe.Maker SOUND = decidingBy((predecessors, self) ->
            predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors.get(predecessors.size() - 1)));

    /** What the suite below plays with; the tests run one after the other. */
    private static Recipe.Maker played = SOUND;

    static class Suite extends AcquireContract {
        @Override
        protected Recipe recipe() {
            return Recipe.rivals(played, SOUND, Ownership.REENTRANT_THREAD);
        }
    }

    @Test
    void soundLock_passes() {
        play(SOUND, "freeLock_isGranted", Flavour.class)
                .assertStatistics(tests -> tests.started(8).succeeded(8));
        play(SOUND, "heldLock_isNotGrantedToWhoOnlyTries_andNothingIsWritten", Flavour.class)
                .assertStatistics(tests -> tests.started(2).succeeded(2));
        play(SOUND, "timedOutAcquires_leaveNoNodeAndAtMostOneWatch")
                .assertStatistics(tests -> tests.started(1).succeeded(1));
    }

    @Test
    void lockThatIsGrantedBesideItsRival_isFound() {
        Recipe.Maker generous = decidingBy((predecessors, self) -> Decision.granted());
        assertFound(
                play(generous, "heldLock_isNotGrantedToWhoOnlyTries_andNothingIsWritten", Flavour.class),
                2,
                "expected: NOT_GRANTED");
    }

    @Test
    void tryThatQueues_isFound() {
        assertFound(
                play(
                        replacing("tryAcquire", 0, sound -> ask(sound, 1000)),
                        "heldLock_isNotGrantedToWhoOnlyTries_andNothingIsWritten",
                        Flavour.class),
                1, // the view as a Lock is sound
                "CREATE2=1");
    }

    @Test
    void timedOutRequestThatStaysInTheQueue_isFound() {
        assertFound(
                play(
                        replacing("tryAcquire", 1, sound -> ask(sound, 1)),
                        "timedOutAcquires_leaveNoNodeAndAtMostOneWatch"),
                1,
                "Expected size: 1 but was: 1001");
    }

    @Test
    void lockThatDoesNotKnowItsHolds_isFound() {
        assertFound(
                play(replacing("isAcquiredInThisProcess", 0, sound -> false), "freeLock_isGranted", Flavour.class),
                8,
                "Expecting value to be true");
    }

    private static void assertFound(Events tests, int times, String how) {
        tests.failed()
                .assertThatEvents()
                .hasSize(times)
                .are(event(finishedWithFailure(message(text -> text.contains(how)))));
    }

    private static Events play(Recipe.Maker lock, String test, Class<?>... parameters) {
        played = lock;
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(selectMethod(Suite.class, test, parameters))
                .execute()
                .testEvents();
        assertThat(tests.started().count()).isPositive();
        return tests;
    }

    /** Asks, and after a while leaves the request to itself. */
    private static Optional<Lease> ask(InterProcessLock lock, long millis) {
        return Optional.ofNullable(lock.acquireAsync()
                .thenApply(Function.identity())
                .completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                .join());
    }

    private static Recipe.Maker decidingBy(BiFunction<List<LockNode>, LockNode, Decision> rule) {
        LockDriver driver = new LockDriver() {
            @Override
            public String nodeName() {
                return "lock-";
            }

            @Override
            public Optional<LockNode> parse(String childName) {
                return LockNode.parse(childName, "lock-");
            }

            @Override
            public Decision decide(List<LockNode> predecessors, LockNode self) {
                return rule.apply(predecessors, self);
            }
        };
        return (client, path, options) -> new LockInternals(client, path, driver, options).threadOwned();
    }

    /** A sound lock but for one method. */
    private static Recipe.Maker replacing(String name, int parameters, Function<InterProcessLock, Object> answer) {
        return (client, path, options) -> {
            InterProcessLock sound = SOUND.make(client, path, options);
            return (InterProcessLock) Proxy.newProxyInstance(
                    InterProcessLock.class.getClassLoader(),
                    new Class<?>[] {InterProcessLock.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals(name) && method.getParameterCount() == parameters) {
                            return answer.apply(sound);
                        }
                        try {
                            return method.invoke(sound, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        };
    }
}

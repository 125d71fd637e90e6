// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.contract.BrokenLock.assertSound;
import static dev.zkrecipes.test.contract.BrokenLock.call;
import static dev.zkrecipes.test.contract.BrokenLock.decidingBy;
import static dev.zkrecipes.test.contract.BrokenLock.play;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** On a machine that comes late a sound lock passes, and a broken one is still found. */
@Tag("alone")
@Tag("H152")
class LateMachineIT {
    private static final Recipe.Maker SOUND = decidingBy(new MutexDriver()::decide);

    /** What the suites below play with; the tests run one after the other. */
    private static Recipe.Maker played = SOUND;

    static class LeaseSuite extends LeaseContract {
        @Override
        protected Recipe recipe() {
            return Recipe.rivals(played, SOUND, Ownership.REENTRANT_THREAD);
        }
    }

    static class LossSuite extends LossContract {
        @Override
        protected Recipe recipe() {
            return Recipe.rivals(played, SOUND, Ownership.REENTRANT_THREAD);
        }
    }

    /** After which a session of a few seconds proves less for a while. */
    @Test
    void engineThatStandsStill_isNotTakenForABrokenLock() {
        AtomicInteger decided = new AtomicInteger();
        played = decidingBy((predecessors, self) -> {
            if (decided.incrementAndGet() % 5 == 0) {
                Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(1500));
            }
            return new MutexDriver().decide(predecessors, self);
        });
        assertSound(play(LeaseSuite.class, "newLease_isValidAtOnce"), 1);
    }

    @Test
    void leaseThatIsValidLater_isFound() {
        answering((sound, method, result) -> {
            if (result instanceof Lease lease) {
                AtomicInteger asked = new AtomicInteger();
                return proxy(
                        Lease.class,
                        lease,
                        (same, question, answer) -> question.equals("isValid") ? asked.getAndIncrement() > 0 : answer);
            }
            return result;
        });
        play(LeaseSuite.class, "newLease_isValidAtOnce")
                .failed()
                .assertThatEvents()
                .hasSize(1)
                .are(event(finishedWithFailure(message(
                        text -> text.contains("not valid at once, in a JVM that came") && text.contains("20]")))));
    }

    /** Leases that nobody has are collected, on a busy machine sooner. */
    @Test
    void collectedLeases_areNotTakenForReleasedOnes() {
        answering((sound, method, result) -> {
            if (method.equals("holdCount")) {
                System.gc();
                return sound.getClass().getMethod(method).invoke(sound);
            }
            return result;
        });
        assertSound(play(LossSuite.class, "releaseOfALostLock_countsDownAndThrows"), 1);
    }

    /** What a double answers in place of what the sound object has answered. */
    @FunctionalInterface
    private interface Answer {
        Object instead(Object sound, String method, Object result) throws Exception;
    }

    private static void answering(Answer answer) {
        played = (client, path, options) -> proxy(InterProcessLock.class, SOUND.make(client, path, options), answer);
    }

    private static <T> T proxy(Class<T> type, T sound, Answer answer) {
        return BrokenLock.proxy(
                type,
                (proxy, method, arguments) -> answer.instead(sound, method.getName(), call(sound, method, arguments)));
    }
}

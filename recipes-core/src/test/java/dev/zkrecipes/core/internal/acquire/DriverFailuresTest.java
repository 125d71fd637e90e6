// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.OTHER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.client.LivingSessions;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a driver throws is told as the driver's failure, wherever the engine asks it. */
@Tag("H92")
class DriverFailuresTest extends ClientScene {
    private static final String PATH = "/locks/orders";

    private record Failing(RuntimeException onInitialRule) implements SharedRuleDriver, LockNodeDriver {
        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return Decision.granted();
        }

        @Override
        public byte[] initialRule() {
            throw onInitialRule;
        }

        @Override
        public LockDriver under(byte[] rule) {
            return this;
        }
    }

    /** Reads the name of another's node in its own way. */
    private record Reading(Supplier<Optional<LockNode>> other) implements LockNodeDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return childName.equals(OTHER) ? other.get() : LockNode.parse(childName, "lock-");
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors);
        }
    }

    /** Serves in order; fails from some time on. */
    private record InOrder(AtomicBoolean fails, RuntimeException failure) implements FifoDriver, LockNodeDriver {
        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            if (fails.get()) {
                throw failure;
            }
            return predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors);
        }
    }

    private void assertToldAsTheDriversFailure(LockDriver driver, RuntimeException cause) {
        assertThat(refusalBy(driver)).hasCause(cause);
    }

    private LockRefusedException refusalBy(LockDriver driver) {
        return assertRefused(queueing(driver), driver);
    }

    private CompletableFuture<Lease> queueing(LockDriver driver) {
        scheduler.run();
        return asked(internals(PATH, driver).threadOwned());
    }

    private static LockRefusedException assertRefused(CompletableFuture<Lease> wanted, LockDriver driver) {
        Throwable failure = catchThrowable(wanted::join).getCause();
        assertThat(failure)
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining(driver.getClass().getName())
                .hasMessageContaining(PATH);
        return (LockRefusedException) failure;
    }

    @Test
    void throwingInitialRule_isReportedWithDriverAndCause() {
        RuntimeException cause = new IllegalStateException("no rule");
        operations.refuse(Request.CREATE, Code.NONODE);
        assertToldAsTheDriversFailure(new Failing(cause), cause);
    }

    /** Its nodes were never sent: whoever waited for their answer would wait forever, such as the close of the client. */
    @Test
    @Tag("H45")
    void throwingInitialRule_leavesNothingToDelete() {
        operations.refuse(Request.CREATE, Code.NONODE);
        assertThat(refusalBy(new Failing(new IllegalStateException("no rule")))).isNotNull();
        scheduler.run();
        EngineClient engine = EngineClient.of(client);
        assertThat(engine.cleaner().isEmpty()).isTrue();
        assertThat(LivingSessions.of(engine))
                .allSatisfy(session ->
                        assertThat(session.nodes()).extracting("bytes").isEqualTo(0L));
    }

    @Test
    void throwingParse_isReportedWithDriverAndCause() {
        RuntimeException cause = new IllegalStateException("no node");
        operations.add(OTHER);
        assertToldAsTheDriversFailure(
                new Reading(() -> {
                    throw cause;
                }),
                cause);
    }

    @Test
    void throwingParseOfANodeThatIsGone_isReportedWithDriverAndCause() {
        RuntimeException cause = new IllegalStateException("no node");
        AtomicBoolean fails = new AtomicBoolean();
        LockDriver driver = new Reading(() -> {
            if (fails.get()) {
                throw cause;
            }
            return LockNode.parse(OTHER, "lock-");
        });
        operations.add(OTHER);
        CompletableFuture<Lease> wanted = queueing(driver);
        fails.set(true);
        operations.remove(OTHER);
        scheduler.run();
        assertThat(assertRefused(wanted, driver)).hasCause(cause);
    }

    @Test
    void throwingDecisionWhenTheRequestInFrontLeaves_isToldToTheOneBehind() {
        InOrder driver = new InOrder(new AtomicBoolean(), new IllegalStateException("no decision"));
        operations.add(OTHER);
        CompletableFuture<Lease> first = queueing(driver);
        CompletableFuture<Lease> second = queueing(driver);
        driver.fails().set(true);
        first.cancel(false);
        scheduler.run();
        assertThat(assertRefused(second, driver)).hasCause(driver.failure());
    }

    @Test
    void nodeWithAnotherName_isReportedWithDriverAndBothNames() {
        String made = "lock-0000000001";
        operations.add(OTHER);
        assertThat(refusalBy(new Reading(() -> LockNode.parse(made, "lock-")))).hasMessageContainingAll(made, OTHER);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a driver throws is told as the driver's failure, wherever the engine asks it. */
@Tag("H92")
class DriverFailuresTest {
    private static final String PATH = "/locks/orders";

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();

    private static final class Failing implements SharedRuleDriver {
        private final RuntimeException onDecide;
        private final RuntimeException onInitialRule;

        Failing(RuntimeException onDecide, RuntimeException onInitialRule) {
            this.onDecide = onDecide;
            this.onInitialRule = onInitialRule;
        }

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
            if (onDecide != null) {
                throw onDecide;
            }
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

    private void assertToldAsTheDriversFailure(Failing driver, RuntimeException cause) {
        scheduler.run();
        CompletableFuture<Lease> wanted = new LockInternals(client, PATH, driver, LockOptions.defaults())
                .threadOwned()
                .acquireAsync();
        scheduler.run();
        assertThat(wanted)
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .extracting(Throwable::getCause)
                .isInstanceOfSatisfying(
                        LockRefusedException.class,
                        failure -> assertThat(failure)
                                .hasCause(cause)
                                .hasMessageContaining(Failing.class.getName())
                                .hasMessageContaining(PATH));
    }

    @Test
    void throwingFirstDecision_isReportedWithDriverAndCause() {
        RuntimeException cause = new IllegalStateException("no decision");
        assertToldAsTheDriversFailure(new Failing(cause, cause), cause);
    }

    @Test
    void throwingInitialRule_isReportedWithDriverAndCause() {
        RuntimeException cause = new IllegalStateException("no rule");
        operations.refuse(Request.CREATE, Code.NONODE);
        assertToldAsTheDriversFailure(new Failing(null, cause), cause);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of a command whose lock is lost. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OverseerTest {
    private final RunSettings settings = new RunSettings(
            new LockChoice(LockChoice.Mode.EXCLUSIVE, List.of("/lost"), 1, 1),
            List.of("sleep", "1000"),
            Optional.empty(),
            1,
            Reaction.TERM,
            Reaction.IGNORE,
            Duration.ofSeconds(10));

    /** Takes a line only when it may. */
    private static final class BlockedWriter extends StringWriter {
        private final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void write(String text, int offset, int length) {
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            super.write(text, offset, length);
        }
    }

    @Test
    void commandIsEnded_thoughNobodyReadsTheWarning() throws IOException, InterruptedException {
        ChildGroup child = ChildGroup.start(settings.command(), Map.of(), Optional.empty());
        BlockedWriter err = new BlockedWriter();
        Overseer overseer = new Overseer(child, settings, new Notes(new PrintWriter(err), false));
        Thread loss = new Thread(overseer::lost, "loss");
        loss.setDaemon(true);
        loss.start();
        try {
            assertThat(child.awaitExit()).isEqualTo(128 + 15);
            err.open.countDown();
            overseer.awaitQuiet();
        } finally {
            child.signal("KILL");
        }
        assertThat(err).hasToString("zklock: the lock /lost is lost; the command is being ended\n");
    }

    private static final class FailingWriter extends StringWriter {
        private boolean failed;

        @Override
        public void write(String text, int offset, int length) {
            if (!failed) {
                failed = true;
                throw new InternalError("played: no memory for a line");
            }
            super.write(text, offset, length);
        }
    }

    @Test
    void errorWhileTheCommandIsEnded_isSaid_andNobodyWaitsForIt() throws IOException, InterruptedException {
        ChildGroup child = ChildGroup.start(settings.command(), Map.of(), Optional.empty());
        FailingWriter err = new FailingWriter();
        Overseer overseer = new Overseer(child, settings, new Notes(new PrintWriter(err), false));
        try {
            overseer.lost();
            overseer.awaitQuiet();
        } finally {
            child.signal("KILL");
        }
        assertThat(err.toString())
                .contains("the lock /lost is lost, but the command cannot be ended: java.lang.InternalError: played");
    }
}

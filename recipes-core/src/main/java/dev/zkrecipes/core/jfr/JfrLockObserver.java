// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.Locale;

/**
 * Writes what becomes of locks into recordings of JDK Flight Recorder, as the events {@code dev.zkrecipes.LockWait}, {@code
 * dev.zkrecipes.LockHold} and {@code dev.zkrecipes.LockLoss}. All three are off in every recording that does not turn them on, and cost
 * next to nothing then:
 *
 * <pre>{@code
 * ZooKeeperClient client = ZooKeeperClient.builder().connectString(servers).observer(new JfrLockObserver()).build();
 * }</pre>
 *
 * <p>{@code jcmd <pid> JFR.start +dev.zkrecipes.LockWait#enabled=true +dev.zkrecipes.LockHold#enabled=true
 * +dev.zkrecipes.LockLoss#enabled=true} starts such a recording; see {@code docs/observing.md}. One object may observe any number of
 * clients. Instances are thread-safe.
 */
public final class JfrLockObserver implements LockObserver {
    /** Makes an observer. */
    public JfrLockObserver() {}

    @Override
    public Progress onWaiting(Request request) {
        return new Recorded(request);
    }

    private static final class Recorded implements Progress {
        private final Request request;
        private final LockWaitEvent wait = new LockWaitEvent();
        private final LockHoldEvent hold = new LockHoldEvent();

        Recorded(Request request) {
            this.request = request;
            wait.begin();
        }

        @Override
        public void onGranted(Duration waited) {
            hold.begin();
            commitWait("granted");
        }

        @Override
        public void onAbandoned(Duration waited, Ending how) {
            commitWait(how.name().toLowerCase(Locale.ROOT));
        }

        private void commitWait(String outcome) {
            wait.end();
            if (wait.shouldCommit()) {
                wait.path = request.path();
                wait.name = request.name().orElse(null);
                wait.kind = request.kind();
                wait.outcome = outcome;
                wait.commit();
            }
        }

        @Override
        public void onReleased(Duration held) {
            commitHold("released");
        }

        @Override
        public void onLost(Duration held, String reason) {
            commitHold("lost");
            LockLossEvent loss = new LockLossEvent();
            if (loss.shouldCommit()) {
                loss.path = request.path();
                loss.name = request.name().orElse(null);
                loss.kind = request.kind();
                loss.held = held.toNanos();
                loss.reason = reason;
                loss.commit();
            }
        }

        private void commitHold(String outcome) {
            hold.end();
            if (hold.shouldCommit()) {
                hold.path = request.path();
                hold.name = request.name().orElse(null);
                hold.kind = request.kind();
                hold.outcome = outcome;
                hold.commit();
            }
        }
    }
}

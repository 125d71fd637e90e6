// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.Locale;

/**
 * Writes what becomes of locks into recordings of JDK Flight Recorder, as the events {@code dev.zkrecipes.LockWait},
 * {@code dev.zkrecipes.LockHold} and {@code dev.zkrecipes.LockLoss}. All three are off in every recording that does not
 * turn them on, and cost next to nothing then:
 *
 * <pre>{@code
 * ZooKeeperClient client = ZooKeeperClient.builder().connectString(servers).observer(new JfrLockObserver()).build();
 * }</pre>
 *
 * <p>{@code jcmd <pid> JFR.start +dev.zkrecipes.LockWait#enabled=true +dev.zkrecipes.LockHold#enabled=true
 * +dev.zkrecipes.LockLoss#enabled=true} starts such a recording; see {@code docs/observing.md}. One object may observe
 * any number of clients. Instances are thread-safe.
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
            commit(wait, "granted");
        }

        @Override
        public void onAbandoned(Duration waited, Ending how) {
            commit(wait, how.name().toLowerCase(Locale.ROOT));
        }

        @Override
        public void onReleased(Duration held) {
            commit(hold, "released");
        }

        @Override
        public void onLost(Duration held, String reason) {
            commit(hold, "lost");
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

        private void commit(LockEvent event, String outcome) {
            event.end();
            if (event.shouldCommit()) {
                event.path = request.path();
                event.name = request.name().orElse(null);
                event.kind = request.kind();
                event.outcome = outcome;
                event.commit();
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.Locale;

/**
 * Writes what becomes of locks into recordings of JDK Flight Recorder, as the events {@code dev.zkrecipes.LockWait},
 * {@code dev.zkrecipes.LockHold} and {@code dev.zkrecipes.LockLoss}. All three are off in every recording that does not
 * turn them on, as {@code docs/zkrecipes.jfc} does, and cost next to nothing then:
 *
 * <pre>{@code
 * ZooKeeperClient client = ZooKeeperClient.builder().connectString(servers).observer(new JfrLockObserver()).build();
 * }</pre>
 *
 * <p>One object may observe any number of clients. Instances are thread-safe.
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
        private final LockEvent.Wait wait = new LockEvent.Wait();
        private final LockEvent.Hold hold = new LockEvent.Hold();

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
            LockEvent.Loss loss = new LockEvent.Loss();
            loss.held = held.toNanos();
            loss.reason = reason;
            commit(loss, "lost");
        }

        private void commit(LockEvent event, String outcome) {
            if (!(event instanceof LockEvent.Loss)) {
                event.end();
            }
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

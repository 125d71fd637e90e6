// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.Locale;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Records the waits, holds and losses of locks in JDK Flight Recorder, as the events {@code dev.zkrecipes.LockWait},
 * {@code dev.zkrecipes.LockHold} and {@code dev.zkrecipes.LockLoss}. All three are disabled in a recording unless it
 * enables them, as {@code docs/zkrecipes.jfc} does. While disabled they cost next to nothing:
 *
 * <pre>{@code
 * ZooKeeperClient client = ZooKeeperClient.builder().connectString(servers).observer(new JfrLockObserver()).build();
 * }</pre>
 *
 * <p>One object may observe any number of clients. Instances are thread-safe.
 */
public final class JfrLockObserver implements LockObserver {
    /** Creates an observer. */
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
                event.kind = request.kindAsWord();
                event.outcome = outcome;
                event.commit();
            }
        }
    }

    /** A phase of one request for a lock, and its outcome. */
    @Category("zkrecipes")
    @Enabled(false)
    abstract static class LockEvent extends Event {
        @Label("Path")
        @Nullable
        String path;

        @Label("Name")
        @Description("What the application calls the lock")
        @Nullable
        String name;

        @Label("Kind")
        @Nullable
        String kind;

        @Label("Outcome")
        @Nullable
        String outcome;

        @Name("dev.zkrecipes.LockWait")
        @Label("Lock Wait")
        @Description("From the request for a lock to its grant or other end.")
        static final class Wait extends LockEvent {}

        @Name("dev.zkrecipes.LockHold")
        @Label("Lock Hold")
        @Description("From the grant of a lock to its release or loss.")
        static final class Hold extends LockEvent {}

        @Name("dev.zkrecipes.LockLoss")
        @Label("Lock Loss")
        @Description("A lock that was lost while it was held.")
        @StackTrace(false)
        static final class Loss extends LockEvent {
            @Label("Held")
            @Timespan
            long held;

            @Label("Reason")
            @Nullable
            String reason;
        }
    }
}

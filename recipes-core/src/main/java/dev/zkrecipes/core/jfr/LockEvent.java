// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** Something in the life of one request for a lock, and how it ended. */
@Category("zkrecipes")
@Enabled(false)
abstract class LockEvent extends Event {
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

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

/** A lock that was lost while it was held. */
@Name("dev.zkrecipes.LockLoss")
@Label("Lock Loss")
@Category("zkrecipes")
@Description("A lock that was lost while it was held.")
@Enabled(false)
@StackTrace(false)
final class LockLossEvent extends Event {
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

    @Label("Held")
    @Timespan
    long held;

    @Label("Reason")
    @Nullable
    String reason;
}

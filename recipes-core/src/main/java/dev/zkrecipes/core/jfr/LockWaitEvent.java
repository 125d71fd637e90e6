// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** From the request for a lock to its grant or other end. */
@Name("dev.zkrecipes.LockWait")
@Label("Lock Wait")
@Category("zkrecipes")
@Description("From the request for a lock to its grant or other end.")
@Enabled(false)
final class LockWaitEvent extends Event {
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
}

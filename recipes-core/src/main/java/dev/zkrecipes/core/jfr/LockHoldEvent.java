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

/** From the grant of a lock to its release or loss. */
@Name("dev.zkrecipes.LockHold")
@Label("Lock Hold")
@Category("zkrecipes")
@Description("From the grant of a lock to its release or loss.")
@Enabled(false)
final class LockHoldEvent extends Event {
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

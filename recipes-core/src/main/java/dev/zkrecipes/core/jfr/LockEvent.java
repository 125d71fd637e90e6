// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import org.jspecify.annotations.Nullable;

/** A span of time in the life of one request for a lock, and how it ended. */
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
}

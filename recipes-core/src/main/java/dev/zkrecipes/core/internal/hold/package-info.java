// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What a lease stands on, who holds it and for how long, and how a hold ends. {@link
 * dev.zkrecipes.core.internal.hold.LockDataTable} is the record of holds. A {@link
 * dev.zkrecipes.core.internal.hold.Hold} is the lease that the application gets. It stands on a {@link
 * dev.zkrecipes.core.internal.hold.Grant}, whose parts are {@link dev.zkrecipes.core.internal.hold.Held}: a {@link
 * dev.zkrecipes.core.internal.hold.HeldNode}, which is lost with its session, or what a foreign lock has acquired.
 */
@NullMarked
package dev.zkrecipes.core.internal.hold;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The holds of a client: what backs a lease, who owns it, how long it lasts, and how it ends.
 * {@link dev.zkrecipes.core.internal.hold.LockDataTable} records the holds. A
 * {@link dev.zkrecipes.core.internal.hold.Hold} is the lease that the application gets. It is backed by a
 * {@link dev.zkrecipes.core.internal.hold.Grant}, whose parts are {@link dev.zkrecipes.core.internal.hold.Held}: a
 * {@link dev.zkrecipes.core.internal.hold.HeldNode}, which is lost with its session, or the hold of a foreign lock.
 */
@NullMarked
package dev.zkrecipes.core.internal.hold;

import org.jspecify.annotations.NullMarked;

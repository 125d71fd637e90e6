// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * One ZooKeeper session: its state and the proof that it lives. {@link
 * dev.zkrecipes.core.internal.session.KeepAlive} knows the held nodes of the session, checks them, and ends them with
 * it.
 */
@NullMarked
package dev.zkrecipes.core.internal.session;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** From the grant of a lock to its release or loss. */
@Name("dev.zkrecipes.LockHold")
@Label("Lock Hold")
@Description("From the grant of a lock to its release or loss.")
final class LockHoldEvent extends LockEvent {}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.jfr;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** From the request for a lock to its grant or other end. */
@Name("dev.zkrecipes.LockWait")
@Label("Lock Wait")
@Description("From the request for a lock to its grant or other end.")
final class LockWaitEvent extends LockEvent {}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Locks in Micrometer: {@link dev.zkrecipes.micrometer.LockMetrics} for meters, {@link
 * dev.zkrecipes.micrometer.LockObservations} for traces. Both are observers to set when a client is built.
 */
@NullMarked
package dev.zkrecipes.micrometer;

import org.jspecify.annotations.NullMarked;

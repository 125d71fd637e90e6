// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Locks in JDK Flight Recorder. Nothing else uses this package, so an application without the module {@code jdk.jfr}
 * misses nothing.
 */
@NullMarked
package dev.zkrecipes.core.jfr;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Locks in JDK Flight Recorder. Nothing else uses this package, so the rest of the library works without the module
 * {@code jdk.jfr}.
 */
@NullMarked
package dev.zkrecipes.core.jfr;

import org.jspecify.annotations.NullMarked;

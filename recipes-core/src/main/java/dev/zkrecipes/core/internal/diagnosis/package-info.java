// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Finds out why a client is not connected. The client uses
 * {@link dev.zkrecipes.core.internal.diagnosis.ConnectionTrouble} only; tools also probe single servers with
 * {@link dev.zkrecipes.core.internal.diagnosis.ServerProbe}.
 */
@NullMarked
package dev.zkrecipes.core.internal.diagnosis;

import org.jspecify.annotations.NullMarked;

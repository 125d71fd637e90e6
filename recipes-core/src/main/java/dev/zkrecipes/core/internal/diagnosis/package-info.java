// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Why a client is not connected. Its one door is {@link dev.zkrecipes.core.internal.diagnosis.ConnectionTrouble}. */
@NullMarked
package dev.zkrecipes.core.internal.diagnosis;

import org.jspecify.annotations.NullMarked;

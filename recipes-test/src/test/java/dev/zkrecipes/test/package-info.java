// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Tests of the test kit: what it promises must hold, or no other test means anything. */
@NullMarked
package dev.zkrecipes.test;

import org.jspecify.annotations.NullMarked;

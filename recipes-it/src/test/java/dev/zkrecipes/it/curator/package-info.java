// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Our locks beside those of Apache Curator, on the same paths. */
@NullMarked
package dev.zkrecipes.it.curator;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Servers, client jars and Guavas of other versions than those of the build. */
@NullMarked
package dev.zkrecipes.it.versions;

import org.jspecify.annotations.NullMarked;

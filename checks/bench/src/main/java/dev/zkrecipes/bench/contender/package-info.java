// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The three contenders: {@link dev.zkrecipes.bench.contender.LockClient} is what each of them implements. */
@NullMarked
package dev.zkrecipes.bench.contender;

import org.jspecify.annotations.NullMarked;

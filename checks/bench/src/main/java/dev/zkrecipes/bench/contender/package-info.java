// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The contenders: this library, Apache Curator, and ZooKeeper's own client. */
@NullMarked
package dev.zkrecipes.bench.contender;

import org.jspecify.annotations.NullMarked;

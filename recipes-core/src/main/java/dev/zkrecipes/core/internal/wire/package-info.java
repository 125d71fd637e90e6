// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What stands in ZooKeeper: paths, names, node data, access lists, printable text. */
@NullMarked
package dev.zkrecipes.core.internal.wire;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The form of everything that is stored in ZooKeeper: paths, names, node data and ACLs, and text that is fit to
 * print.
 */
@NullMarked
package dev.zkrecipes.core.internal.wire;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What a session reads for all its locks: lists, watches, and the ACLs of paths and of children that may not be lock
 * nodes.
 */
@NullMarked
package dev.zkrecipes.core.internal.reads;

import org.jspecify.annotations.NullMarked;

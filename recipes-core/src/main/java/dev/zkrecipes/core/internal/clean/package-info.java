// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The nodes that a client has to delete, until the server says that they are gone. {@link
 * dev.zkrecipes.core.internal.clean.NodeCleaner} gets a node when what was held ends, by release or by loss, and when
 * a request is given up. {@link dev.zkrecipes.core.internal.clean.ParentMaker} creates the paths of locks; unless they
 * are to persist, servers delete them when they are empty.
 */
@NullMarked
package dev.zkrecipes.core.internal.clean;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Deletes the nodes of a client, until the server says that they are gone.
 * {@link dev.zkrecipes.core.internal.clean.NodeCleaner} gets a node when its hold ends, by release or by loss, and when
 * its request is given up. {@link dev.zkrecipes.core.internal.clean.ParentMaker} creates the paths of locks. Unless a
 * path is to persist, servers delete it when it is empty.
 */
@NullMarked
package dev.zkrecipes.core.internal.clean;

import org.jspecify.annotations.NullMarked;

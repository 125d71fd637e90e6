// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** ZooKeeper handles: opening them, wrapping them, translating what they say. */
@NullMarked
package dev.zkrecipes.core.internal.zk;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * ZooKeeper handles: opening and wrapping them, translating their events and answers, and checking the settings that
 * they are opened with.
 */
@NullMarked
package dev.zkrecipes.core.internal.zk;

import org.jspecify.annotations.NullMarked;

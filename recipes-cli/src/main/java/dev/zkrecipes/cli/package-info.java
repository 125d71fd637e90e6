// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The {@code zklock} command: {@link dev.zkrecipes.cli.ZkLock} is the entry, each sub-command has its own package. */
@NullMarked
package dev.zkrecipes.cli;

import org.jspecify.annotations.NullMarked;

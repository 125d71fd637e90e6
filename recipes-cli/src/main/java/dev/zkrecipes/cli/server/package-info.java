// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** {@code zklock server}: runs a ZooKeeper server for development. */
@NullMarked
package dev.zkrecipes.cli.server;

import org.jspecify.annotations.NullMarked;

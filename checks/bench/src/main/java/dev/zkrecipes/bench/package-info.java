// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** {@code bin/bench}: this library beside Apache Curator and ZooKeeper's own client. */
@NullMarked
package dev.zkrecipes.bench;

import org.jspecify.annotations.NullMarked;

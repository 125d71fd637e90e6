// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The two ports through which the engine accesses ZooKeeper and time. A test kit puts a simulated server and a
 * simulated clock behind them, with {@link dev.zkrecipes.core.spi.port.Ports}; recipes and applications do not need
 * them.
 */
@NullMarked
package dev.zkrecipes.core.spi.port;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The two ports through which the engine reaches ZooKeeper and time. A test kit puts a simulated server and a simulated
 * clock behind them, with {@link dev.zkrecipes.core.spi.port.Ports}; recipes and applications have no use for
 * them.
 */
@NullMarked
package dev.zkrecipes.core.spi.port;

import org.jspecify.annotations.NullMarked;

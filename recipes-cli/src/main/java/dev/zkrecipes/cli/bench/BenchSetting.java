// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import java.time.Duration;

/**
 * What is measured, and where.
 *
 * @param servers the connect string
 * @param path the path above the locks
 * @param sessionTimeout as the servers have granted it
 * @param window how long each task is measured
 * @param sessions how many sessions there are
 */
record BenchSetting(String servers, String path, Duration sessionTimeout, Duration window, int sessions) {}

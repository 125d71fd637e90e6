// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import dev.zkrecipes.bench.server.ServerProcess;

/**
 * Where a turn takes place.
 *
 * @param server the process of the server, which reports its counts
 * @param connectString where contenders connect: the server, or the proxy before it
 * @param path an unused path
 */
public record Site(ServerProcess server, String connectString, String path) {}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

/**
 * Where a turn takes place.
 *
 * @param connectString where contenders connect: the server, or the proxy before it
 * @param path an unused path
 */
public record Site(String connectString, String path) {}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.nio.file.Path;

/** The means of a scenario. */
record ScenarioMeans(DemoOptions options, Path folder, Timeline timeline, Direction direction, Roster roster) {}

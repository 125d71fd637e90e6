// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

/** Receives the figures. */
interface Report {
    /** Before the first task. */
    void begin(BenchSetting setting);

    /** After a task; returns whether anybody still reads. */
    boolean tell(Measure measure, Figures figures);

    /** After the last task. */
    void end();
}

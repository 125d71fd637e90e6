// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What happened in a simulated run, for people to read. Not thread-safe. */
public final class Trace {
    private final List<String> lines = new ArrayList<>();

    /** An empty one. */
    public Trace() {}

    void add(long nanos, String who, String what) {
        lines.add(String.format(Locale.ROOT, "%9.1f ms  %-10s %s", nanos / 1e6, who, what));
    }

    /** {@return a copy of the lines so far: time, who, what} */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public String toString() {
        return String.join(System.lineSeparator(), lines);
    }
}

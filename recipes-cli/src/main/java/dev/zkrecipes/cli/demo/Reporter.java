// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.PrintStream;
import java.util.Map;

/** Reports the events of a child to the demo. */
final class Reporter {
    private final PrintStream out;
    private final int worker;

    Reporter(PrintStream out, int worker) {
        this.out = out;
        this.worker = worker;
    }

    void say(Event.Kind kind, Map<String, Long> numbers) {
        say(kind, numbers, "");
    }

    /** One write per line, so that a killed process leaves no half line. */
    void say(Event.Kind kind, Map<String, Long> numbers, String note) {
        out.print(new Event(worker, kind, numbers, note).line() + '\n');
        out.flush();
    }
}

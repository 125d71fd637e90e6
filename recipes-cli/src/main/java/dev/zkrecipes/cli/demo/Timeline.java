// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Locale;

/** Prints events, with the time since the demo began and the process concerned. */
final class Timeline {
    private final Page page;
    private final long start;

    Timeline(Page page, long start) {
        this.page = page;
        this.start = start;
    }

    void tell(long now, String who, Tone tone, String text) {
        String head = String.format(Locale.ROOT, "%6.1f s  %-8s", (now - start) / 1e9, who);
        page.print(head, Tone.QUIET, tone, text);
    }

    /** For people: {@code 9.1 ms} or {@code 3.2 s}. */
    static String show(Duration time) {
        double millis = time.toNanos() / 1e6;
        return millis < 99.95
                ? String.format(Locale.ROOT, "%.1f ms", millis)
                : String.format(Locale.ROOT, "%.1f s", millis / 1e3);
    }

    static String show(long nanos) {
        return show(Duration.ofNanos(nanos));
    }

    /** The name of a worker. */
    static String name(int worker) {
        return worker == Event.SERVER ? "server" : "w" + worker;
    }
}

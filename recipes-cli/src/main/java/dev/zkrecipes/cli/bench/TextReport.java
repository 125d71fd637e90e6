// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.text.PlainText;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** A table for people, with each line as soon as it is known. */
final class TextReport implements Report {
    private static final String ROW = "%-38s %7s %12s %12s %11s%n";
    private static final double NANOS_A_MILLI = 1e6;
    private static final int FEW = 10;

    private final PrintWriter out;

    TextReport(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void begin(BenchSetting setting) {
        out.printf(
                "%s, session time-out %s s, %s s each, %d sessions, below %s%n",
                PlainText.of(setting.servers()),
                Seconds.show(setting.sessionTimeout()),
                Seconds.show(setting.window()),
                setting.sessions(),
                setting.path());
        out.printf(ROW, "MEASURED", "TIMES", "MEDIAN", "P99", "PER SECOND");
        out.flush();
    }

    @Override
    public boolean tell(Measure measure, Figures figures) {
        out.printf(
                ROW,
                measure.title(),
                figures.times(),
                millis(figures.median()),
                millis(figures.p99()),
                String.format(Locale.ROOT, figures.perSecond() < FEW ? "%.1f" : "%.0f", figures.perSecond()));
        return !out.checkError();
    }

    @Override
    public void end() {}

    private static String millis(Duration time) {
        return String.format(Locale.ROOT, "%.3f ms", time.toNanos() / NANOS_A_MILLI);
    }
}

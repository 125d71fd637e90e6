// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import dev.zkrecipes.cli.text.Json;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One line of JSON, at the end. */
final class JsonReport implements Report {
    private final PrintWriter out;
    private final Map<String, Object> document = new LinkedHashMap<>();
    private final List<Object> measured = new ArrayList<>();

    JsonReport(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void begin(BenchSetting setting) {
        document.put("servers", setting.servers());
        document.put("path", setting.path());
        document.put("sessionTimeoutMillis", setting.sessionTimeout().toMillis());
        document.put("windowMillis", setting.window().toMillis());
        document.put("sessions", setting.sessions());
        document.put("measured", measured);
    }

    @Override
    public boolean tell(Measure measure, Figures figures) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", measure.id());
        row.put("times", figures.times());
        row.put("medianMicros", micros(figures.median()));
        row.put("p99Micros", micros(figures.p99()));
        row.put("perSecond", Math.round(figures.perSecond()));
        measured.add(row);
        return true;
    }

    @Override
    public void end() {
        out.println(Json.of(document));
        out.flush();
    }

    private static long micros(Duration time) {
        return TimeUnit.NANOSECONDS.toMicros(time.toNanos());
    }
}

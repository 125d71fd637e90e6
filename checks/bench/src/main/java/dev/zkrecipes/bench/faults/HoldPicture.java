// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.faults.ServerLog.Life;
import dev.zkrecipes.bench.faults.Tenure.Span;
import java.util.List;
import java.util.Locale;

/** Who held and who believed, over time, as SVG. */
final class HoldPicture {
    private static final int LEFT = 300;
    private static final int WIDTH = 900;
    private static final int ROW = 30;

    private final long from;
    private final long to;
    private final StringBuilder shapes = new StringBuilder();
    private int rows = 1;

    private HoldPicture(long from, long to) {
        this.from = from;
        this.to = to;
    }

    /** Draws two holders of a lock, the faults meanwhile, and writes that came too late. */
    static String of(String who, Tenure a, Tenure b, ServerLog log, List<Arena.Played> faults, List<Long> lateWrites) {
        long begin = Math.min(a.granted(), b.granted());
        long end = Math.max(Math.max(a.lastBelieved(), a.released()), b.granted());
        long margin = (end - begin) / 20;
        HoldPicture picture = new HoldPicture(begin - margin, end + margin);
        for (Arena.Played fault : faults) {
            if (fault.from() < picture.to && fault.to() > picture.from) {
                picture.bar(fault.step().kind().description(), "#999", List.of(new Span(fault.from(), fault.to())));
            }
        }
        picture.holder("A", a, log, "#e80");
        for (long late : lateWrites) {
            picture.bar("A's stale write is accepted", "#c00", List.of(new Span(late, late)));
        }
        picture.holder("B", b, log, "#2a6");
        return picture.svg(who + ": A (client " + a.client() + ") believes it holds lock " + a.lock()
                + ", which B (client " + b.client() + ") has been granted");
    }

    private void holder(String name, Tenure tenure, ServerLog log, String color) {
        Life life = log.lives().get(tenure.node());
        if (life != null) {
            bar(name + " has a node on the servers", "#bcd", List.of(new Span(life.createdAt(), life.deletedAt())));
        }
        bar(name + " is told that it holds", "#057", List.of(new Span(tenure.granted(), tenure.granted())));
        bar(name + " believes it holds", color, tenure.believed());
    }

    private void bar(String label, String color, List<Span> spans) {
        int y = ROW * rows++;
        text(8, y + 14, label);
        for (Span span : spans) {
            double begin = x(Math.max(span.from(), from));
            double end = Math.max(x(Math.min(span.to(), to)), begin + 2);
            add("<rect x='%.1f' y='%d' width='%.1f' height='18' fill='%s'/>%n", begin, y, end - begin, color);
        }
    }

    private void text(double x, int y, String text) {
        add("<text x='%.1f' y='%d'>%s</text>%n", x, y, text);
    }

    private void add(String format, Object... values) {
        shapes.append(String.format(Locale.ROOT, format, values));
    }

    private double x(long time) {
        return LEFT + (double) (time - from) / (to - from) * WIDTH;
    }

    private String svg(String title) {
        String bars = shapes.toString();
        shapes.setLength(0);
        text(8, 18, title);
        int height = ROW * (rows + 1);
        for (int mark = 0; mark <= 10; mark++) {
            long time = from + (to - from) / 10 * mark;
            add("<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#ddd'/>%n", x(time), ROW, x(time), height - ROW);
            text(x(time), height - 10, String.format(Locale.ROOT, "%.2f s", (time - from) / 1e9));
        }
        return String.format(
                "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='13'>%n"
                        + "<rect width='100%%' height='100%%' fill='white'/>%n%s%s</svg>%n",
                LEFT + WIDTH + 60, height, shapes, bars);
    }
}

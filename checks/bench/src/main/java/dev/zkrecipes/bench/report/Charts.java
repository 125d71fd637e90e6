// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import dev.zkrecipes.bench.cases.WaysToWait;
import dev.zkrecipes.bench.cases.WaysToWait.Way;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries.XYSeriesRenderStyle;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Pictures of the results. */
public final class Charts {
    private static final int WIDTH = 1_200;
    private static final int HEIGHT = 700;
    private static final int CURVE_STEPS = 60;

    private Charts() {}

    /**
     * For each case the ratio of ours to Curator's, and to the bare client's, of one metric; nothing if there is none.
     */
    public static void ratios(List<Result> results, Metric metric, Path folder) throws IOException {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(metric.label() + " of ours divided by that of the others"
                        + (metric.moreIsBetter() ? " (more is better)" : " (less is better)"))
                .yAxisTitle("ratio, logarithmic")
                .build();
        // Points: the length of a bar means nothing on an axis that has no zero.
        chart.getStyler()
                .setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Scatter)
                .setYAxisLogarithmic(true)
                .setXAxisLabelRotation(60)
                .setLegendPosition(LegendPosition.InsideNW);
        double least = 1;
        for (Contender against : List.of(Contender.CURATOR, Contender.BARE)) {
            List<String> names = new ArrayList<>();
            List<Double> ratios = new ArrayList<>();
            for (Result result : results) {
                Optional<Summary> ratio = result.ratio(against, metric);
                if (ratio.isPresent()) {
                    names.add(result.benchCase().name() + ", " + result.setting());
                    ratios.add(ratio.get().median());
                    least = Math.min(least, ratio.get().median());
                }
            }
            if (!names.isEmpty()) {
                chart.addSeries("ours : " + against, names, ratios);
            }
        }
        if (!chart.getSeriesMap().isEmpty()) {
            // Categories begin at 0 unless told otherwise, which a logarithmic axis does not have.
            chart.getStyler().setYAxisMin(Math.pow(10, Math.floor(Math.log10(least))));
            save(chart, folder.resolve(metric.label() + "-ratios.png"));
        }
    }

    /** The cost of a hand-over for each of the three ways to wait: one picture of requests, one of events. */
    public static void waysToWait(List<WaysToWait.Cost> costs, Path folder) throws IOException {
        save(waysToWait(costs, "requests", WaysToWait.Cost::requests), folder.resolve("ways-to-wait-requests.png"));
        save(waysToWait(costs, "events", WaysToWait.Cost::events), folder.resolve("ways-to-wait-events.png"));
    }

    private static XYChart waysToWait(
            List<WaysToWait.Cost> costs, String what, ToDoubleFunction<WaysToWait.Cost> figure) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(what + " of one hand-over")
                .xAxisTitle("waiters")
                .yAxisTitle(what)
                .build();
        chart.getStyler()
                .setXAxisLogarithmic(true)
                .setYAxisLogarithmic(true)
                .setLegendPosition(LegendPosition.InsideNW);
        for (Way way : Way.values()) {
            // A logarithmic axis has no place for nothing, and polling causes no events.
            List<WaysToWait.Cost> points = costs.stream()
                    .filter(cost -> cost.way() == way && figure.applyAsDouble(cost) > 0)
                    .toList();
            if (!points.isEmpty()) {
                chart.addSeries(
                        way.toString(),
                        points.stream().mapToDouble(WaysToWait.Cost::waiters).toArray(),
                        points.stream().mapToDouble(figure).toArray());
            }
        }
        return chart;
    }

    /** What was measured, and the curve through it. */
    public record Curve(String name, Map<Integer, Double> points, DoubleUnaryOperator line) {}

    /** Points and the curves through them, over a logarithmic axis. */
    public static void curves(String title, String xTitle, String yTitle, List<Curve> curves, Path file)
            throws IOException {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        chart.getStyler().setXAxisLogarithmic(true).setLegendPosition(LegendPosition.InsideNW);
        Color[] colors = chart.getStyler().getSeriesColors();
        for (Curve curve : curves) {
            Color color = colors[chart.getSeriesMap().size() / 2 % colors.length];
            double most = Collections.max(curve.points().keySet());
            double[] xs = IntStream.rangeClosed(0, CURVE_STEPS)
                    .mapToDouble(i -> Math.pow(most, (double) i / CURVE_STEPS))
                    .toArray();
            chart.addSeries(
                            curve.name(),
                            List.copyOf(curve.points().keySet()),
                            List.copyOf(curve.points().values()))
                    .setXYSeriesRenderStyle(XYSeriesRenderStyle.Scatter)
                    .setMarkerColor(color);
            chart.addSeries(
                            curve.name() + ", curve",
                            xs,
                            DoubleStream.of(xs).map(curve.line()).toArray())
                    .setMarker(SeriesMarkers.NONE)
                    .setLineColor(color)
                    .setShowInLegend(false);
        }
        save(chart, file);
    }

    private static void save(Chart<?, ?> chart, Path file) throws IOException {
        BitmapEncoder.saveBitmap(chart, file.toString(), BitmapFormat.PNG);
    }
}

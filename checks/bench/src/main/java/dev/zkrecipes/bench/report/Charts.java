// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.Range;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Pictures of the results. */
public final class Charts {
    private static final int WIDTH = 1_200;
    private static final int HEIGHT = 700;

    private Charts() {}

    /** Points over names, on a logarithmic axis: the length of a bar means nothing on an axis that has no zero. */
    public static void ratios(String title, Map<String, Map<String, Double>> series, Path file) throws IOException {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .yAxisTitle("ratio, logarithmic")
                .build();
        series.forEach(
                (name, ratios) -> chart.addSeries(name, List.copyOf(ratios.keySet()), List.copyOf(ratios.values())));
        double least = series.values().stream()
                .flatMap(ratios -> ratios.values().stream())
                .reduce(1.0, Math::min);
        chart.getStyler()
                .setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Scatter)
                .setYAxisLogarithmic(true)
                // Categories begin at 0 unless told otherwise, which a logarithmic axis does not have.
                .setYAxisMin(Math.pow(10, Math.floor(Math.log10(least))))
                .setXAxisLabelRotation(60)
                .setLegendPosition(LegendPosition.InsideNW);
        save(chart, file);
    }

    /** Points over numbers, on two logarithmic axes, and lines between them. */
    public static void lines(
            String title, String xTitle, String yTitle, Map<String, Map<Integer, Double>> series, Path file)
            throws IOException {
        XYChart chart = chart(title, xTitle, yTitle);
        chart.getStyler()
                .setXAxisLogarithmic(true)
                .setYAxisLogarithmic(true)
                .setLegendPosition(LegendPosition.InsideNW);
        series.forEach(
                (name, points) -> chart.addSeries(name, List.copyOf(points.keySet()), List.copyOf(points.values())));
        save(chart, file);
    }

    /** When something was so, in seconds: a row for each thing, and its name in the legend. */
    public static void spans(String title, ListMultimap<String, Range<Double>> spans, Path file) throws IOException {
        XYChart chart = chart(title, "seconds", "");
        chart.getStyler().setYAxisTicksVisible(false).setLegendPosition(LegendPosition.OutsideS);
        for (String label : spans.keySet()) {
            double row = -chart.getSeriesMap().size();
            List<Double> xs = new ArrayList<>();
            List<Double> ys = new ArrayList<>();
            for (Range<Double> span : spans.get(label)) {
                xs.addAll(List.of(span.lowerEndpoint(), span.upperEndpoint(), span.upperEndpoint()));
                ys.addAll(List.of(row, row, Double.NaN)); // a gap before the next
            }
            chart.addSeries(label, xs, ys);
        }
        save(chart, file);
    }

    private static XYChart chart(String title, String xTitle, String yTitle) {
        return new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
    }

    private static void save(Chart<?, ?> chart, Path file) throws IOException {
        BitmapEncoder.saveBitmap(chart, file.toString(), BitmapFormat.PNG);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts seconds with or without a fraction, in the form that {@code flock} accepts: {@code 10}, {@code 0.5}. */
public final class Seconds implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("[0-9]{1,9}(\\.[0-9]*)?|\\.[0-9]+");
    // ZooKeeper's client takes a session time-out as an int, in milliseconds.
    private static final Duration LONGEST = Duration.ofMillis(Integer.MAX_VALUE);
    private static final int NANO_DIGITS = 9;

    /** Called by picocli. */
    public Seconds() {}

    @Override
    public Duration convert(String value) {
        if (FORM.matcher(value).matches()) {
            // Rounded up, so that no positive wait becomes zero, which means not to wait.
            BigDecimal seconds = new BigDecimal(value).setScale(NANO_DIGITS, RoundingMode.UP);
            Duration duration =
                    Duration.ofNanos(seconds.movePointRight(NANO_DIGITS).longValueExact());
            if (duration.compareTo(LONGEST) <= 0) {
                return duration;
            }
        }
        throw new TypeConversionException("'" + value + "' is not a number of seconds; give one from 0 to "
                + LONGEST.toSeconds() + ", such as 10 or 0.5");
    }

    /**
     * Shows a duration in seconds.
     *
     * @param duration what to show
     * @return the seconds with three decimals, such as {@code 0.250}
     */
    public static String show(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis(), 3).toPlainString();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.time.Duration;
import java.util.Locale;

/** Durations for people: the two largest units. */
final class Ages {
    private Ages() {}

    static String show(Duration age) {
        if (age.toDays() > 0) {
            return String.format(Locale.ROOT, "%dd%02dh", age.toDays(), age.toHoursPart());
        } else if (age.toHours() > 0) {
            return String.format(Locale.ROOT, "%dh%02dm", age.toHours(), age.toMinutesPart());
        } else if (age.toMinutes() > 0) {
            return String.format(Locale.ROOT, "%dm%02ds", age.toMinutes(), age.toSecondsPart());
        }
        return age.toSeconds() + "s";
    }
}

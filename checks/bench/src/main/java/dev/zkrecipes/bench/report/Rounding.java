// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import java.math.BigDecimal;
import java.math.MathContext;

/** Numbers as a reader wants them: no more digits than were measured. */
final class Rounding {
    private static final MathContext DIGITS = new MathContext(4);

    private Rounding() {}

    /** Four digits, and all of those in front of the point. */
    static String of(double value) {
        if (Math.abs(value) >= 10_000) {
            return Long.toString(Math.round(value));
        }
        return new BigDecimal(value).round(DIGITS).stripTrailingZeros().toPlainString();
    }

    /** A share as a percentage. */
    static String percent(double share) {
        return Math.round(share * 100) + "%";
    }
}

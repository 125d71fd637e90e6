// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T is 48 seconds; more than half a tick, 14 of them, lies between the first and the second of three writes. */
@Tag("H07")
class SessionReportsTest {
    private static final long SECOND = 1_000_000_000;
    private static final long TIMEOUT = 48 * SECOND;

    private final SessionReports reports = new SessionReports(at(-100));

    private static long at(double seconds) {
        return Math.round(seconds * SECOND);
    }

    /** A write that was sent and answered at these seconds. */
    private void write(double sent, double answered) {
        reports.onCommitted(at(sent), at(answered), TIMEOUT);
    }

    private void assertReported(double second) {
        assertThat(reports.reportedAt()).isEqualTo(at(second));
    }

    @Test
    void threeWrites_proveFromTheFirstOn() {
        write(0, 1);
        write(15, 16);
        assertReported(-100);
        write(16, 17);
        assertReported(0);
    }

    @Test
    void secondWrite_isSentMoreThanHalfATickAfterTheAnswerToTheFirst() {
        write(0, 1.001);
        write(15, 16);
        write(20, 21);
        assertReported(-100);
    }

    @Test
    void thirdWrite_isSentAfterTheAnswerToTheSecond() {
        write(0, 1);
        write(15, 20);
        write(19.999, 21);
        assertReported(-100);
        write(20, 21);
        assertReported(0);
    }

    @Test
    void checksEverySixth_proveFromThreeChecksBefore() {
        for (int check = 0; check < 40; check++) {
            write(8 * check, 8 * check + 0.5);
        }
        assertReported(8 * 36);
    }

    /** What is kept of them takes a 24th of T away, twice. */
    @Test
    void manyWrites_proveFromNotMuchMoreThanHalfATickBefore() {
        for (int write = 0; write < 10_000; write++) {
            write(write / 100.0, write / 100.0 + 0.005);
        }
        assertThat(reports.reportedAt()).isGreaterThan(at(99.99 - 14 - 2 * 2 - 0.1));
    }

    @Test
    void newConnection_isAReportOfWhatWasAnsweredBefore() {
        write(0, 1);
        write(2, 3);
        reports.onDisconnected();
        assertReported(-100);
        reports.onConnected();
        assertReported(2);
    }

    /** The connection may have been there before it was noticed. */
    @Test
    void newConnection_isNoReportOfWhatWasAnsweredInIt() {
        write(0, 1);
        reports.onDisconnected();
        write(2, 3);
        reports.onConnected();
        assertReported(0);
    }

    @Test
    void sessionOfUnknownAge_hasProvenNothing() {
        SessionReports unknown = SessionReports.ofUnknown(at(0));
        unknown.onConnected();
        assertThat(unknown.reportedAt()).isLessThan(at(0) - 1000 * TIMEOUT);
    }
}

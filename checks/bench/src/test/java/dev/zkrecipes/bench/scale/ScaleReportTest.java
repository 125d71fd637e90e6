// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Store;
import dev.zkrecipes.bench.scale.Ensemble.Usage;
import dev.zkrecipes.bench.scale.Reading.Series;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScaleReportTest {
    private static final Series OURS = new Series(3, Store.DISK, Contender.OURS, Work.MUTEX);
    private static final Series BARE = new Series(3, Store.DISK, Contender.BARE, Work.MUTEX);

    private static final Series NEW_PATHS = new Series(3, Store.DISK, Contender.OURS, Work.NEW_PATH);

    private static Reading reading(Series series, int sessions, int percent, double offered, double rate) {
        return new Reading(series, sessions, percent, offered, rate, 1.23, 4.56, 3, 789, 150, 250, 1.5);
    }

    private static ScaleReport report() {
        List<Reading> readings = new ArrayList<>();
        for (int sessions : new int[] {1, 4, 16, 64}) {
            readings.add(reading(OURS, sessions, 100, 0, 1_000.0 * sessions / (sessions + 4)));
        }
        readings.add(reading(OURS, 64, 50, 470, 470));
        readings.add(reading(OURS, 64, 90, 847, 800));
        readings.add(reading(BARE, 1, 100, 0, 300));
        readings.add(reading(NEW_PATHS, 64, 100, 0, 700));
        return new ScaleReport(readings);
    }

    @Test
    void page_hasTheAnswer_andTheFigures() {
        assertThat(report().markdown("machine\n"))
                .startsWith(
                        "**3 servers, log on disk: 941 locks/s; 3 servers, log on disk, each path used once: 700 locks/s.**\n")
                .contains("| 3 servers, log on disk, zkrecipes | 941 | 64 | 1.2 (4.6) | only 800 of 847 locks/s |"
                        + " 3.0 | 789 | 150 | 250 | 1.5 |\n")
                .contains("| 3 servers, log on disk, zkrecipes | 200 | 500 | 800 | 941 |\n")
                .endsWith("\n```text\nmachine\n```\n");
    }

    @Test
    void turnThatWasNotPlayed_hasNoFigure() {
        assertThat(report().markdown(""))
                .contains("| 3 servers, log on disk, bare | 300 | 1 | - | - |")
                .contains("| 3 servers, log on disk, bare | 300 | - | - | - |");
    }

    @Test
    void data_haveALineForEachTurn() {
        assertThat(report().csv().lines())
                .hasSize(9)
                .contains("3,disk,ours,mutex,64,90,847,800,1.23,4.56,3,789,150,250,1.5");
    }

    @Test
    void connectionMadeAgain_orAnotherLeader_failsTheTurn() {
        Usage before = new Usage(100, 1_000, 4, 2, Duration.ofMillis(10));
        Usage after = new Usage(400, 5_000, 4, 2, Duration.ofMillis(25));
        assertThat(after.since(before)).isEqualTo(new Usage(300, 4_000, 0, 2, Duration.ofMillis(15)));
        Usage lost = new Usage(400, 5_000, 5, 2, Duration.ofMillis(25));
        assertThatIllegalStateException().isThrownBy(() -> lost.since(before)).withMessageContaining("1");
        Usage elsewhere = new Usage(400, 5_000, 4, 0, Duration.ofMillis(25));
        assertThatIllegalStateException()
                .isThrownBy(() -> elsewhere.since(before))
                .withMessage("another server leads now");
    }
}

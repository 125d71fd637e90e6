// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Crew;
import dev.zkrecipes.bench.runner.Store;
import dev.zkrecipes.bench.scale.Ensemble.Usage;
import dev.zkrecipes.bench.scale.Reading.Series;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** So briefly that the figures say nothing; servers are processes of their own, as in earnest. */
@Timeout(600)
@Tag("soak")
class ScaleIT {
    @ParameterizedTest
    @EnumSource(names = {"MUTEX", "NEW_PATH"})
    void seriesOnThreeServers_isMeasured(Work work) throws Exception {
        List<String> progress = new ArrayList<>();
        ScaleRun run = new ScaleRun(List.of(1, 2), 0.5, 1_000, progress::add);
        run.play(new Series(3, Store.MEMORY, Contender.OURS, work));
        assertThat(progress).allMatch(line -> line.matches(".*; load \\d+\\.\\d"));
        assertThat(run.readings())
                .extracting(Reading::percent)
                .isEqualTo(work == Work.MUTEX ? List.of(100, 100, 50, 90) : List.of(100, 50, 90));
        assertThat(run.readings()).allSatisfy(reading -> {
            assertThat(reading.rate()).isPositive();
            assertThat(reading.slowMillis()).isGreaterThanOrEqualTo(reading.medianMillis());
            // A create and a delete; a turn has some pings besides, and is read once from each server, which counts for
            // much where a busy machine plays few.
            assertThat(reading.requests()).isGreaterThanOrEqualTo(2.0);
            assertThat(reading.bytes()).isGreaterThan(reading.requests());
            assertThat(reading.leaderMicros()).isPositive();
        });
        assertThat(run.readings().get(run.readings().size() - 1).offered()).isPositive();
    }

    @Test
    void sessionThatFails_failsItsTurn_andServersLeaveNothing() throws Exception {
        Path data;
        try (Ensemble ensemble = Ensemble.start(1, Store.MEMORY);
                Crowd crowd = new Crowd(Contender.BARE, Work.MUTEX, ensemble.connectString())) {
            data = ensemble.directory();
            Usage before = ensemble.usage();
            crowd.resize(2);
            assertThatIllegalStateException()
                    .isThrownBy(() -> ensemble.usage().since(before))
                    .withMessage("connections broke, or sessions expired: 2");
            Crew crew = crowd.start(2, 0);
            ensemble.close();
            await().atMost(Duration.ofSeconds(120))
                    .untilAsserted(() -> assertThatIllegalStateException()
                            .isThrownBy(crew::check)
                            .withMessageStartingWith("a contender failed: ")
                            .withMessageContaining("ConnectionLoss"));
            assertThatIllegalStateException().isThrownBy(ensemble::usage).withMessage("a server does not serve");
        }
        assertThat(Files.exists(data)).isFalse();
    }
}

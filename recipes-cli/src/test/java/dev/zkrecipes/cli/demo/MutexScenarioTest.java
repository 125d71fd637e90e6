// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.demo.CounterFile.Counter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plot, with made-up workers and time. */
class MutexScenarioTest {
    private static final int VICTIM = 2;
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final List<String> orders = new ArrayList<>();
    private final Roster roster = new Roster(4);
    private KillScenario scenario;
    private long now;
    private Counter counter = Counter.ZERO;
    private long nextToken = 1L << 60;

    @BeforeEach
    void begin() {
        Direction direction = new Direction() {
            @Override
            public void order(int worker, Order order) {
                orders.add(worker + " " + order.line());
            }

            @Override
            public void kill(int worker) {
                orders.add(worker + " kill");
            }
        };
        Page page = new Page(new PrintStream(bytes, true, StandardCharsets.UTF_8), false);
        DemoOptions options =
                new DemoOptions(DemoRecipe.MUTEX, 4, Duration.ofSeconds(15), Optional.empty(), Duration.ofMillis(500));
        roster.members()
                .forEach(member -> roster.on(new Event(
                        member.number(),
                        Event.Kind.READY,
                        Map.of("pid", 4_000_000L + member.number(), "timeout", 3000L))));
        ScenarioMeans means = new ScenarioMeans(options, folder, new Timeline(page, 0), direction, roster);
        scenario = new KillScenario(means, new MutexPlot(means));
        scenario.begin(now);
    }

    private void say(int worker, Event.Kind kind, Map<String, Long> numbers) {
        scenario.on(new Arrival(now, new Event(worker, kind, numbers)));
    }

    private long grant(int worker) {
        say(worker, Event.Kind.WAITING, Map.of());
        nextToken += 2048;
        say(worker, Event.Kind.GRANTED, Map.of("token", nextToken, "waited", 9_000_000L));
        return nextToken;
    }

    private void increment(int worker) {
        long found = counter.token();
        counter = counter.next(grant(worker));
        say(worker, Event.Kind.INCREMENTED, Map.of("token", counter.token(), "value", counter.value(), "found", found));
        say(worker, Event.Kind.RELEASING, Map.of());
    }

    private void idle() {
        say(VICTIM, Event.Kind.IDLING, Map.of("token", grant(VICTIM)));
    }

    /** Lets time pass, and the workers increment every 0.1 s. */
    private void work(double seconds, int... workers) {
        for (int i = 0; i < seconds * 10; i++) {
            now += SECOND / 10;
            for (int worker : workers) {
                increment(worker);
            }
            scenario.at(now);
        }
    }

    private void end(int... workers) throws IOException {
        for (int worker : workers) {
            say(worker, Event.Kind.ENDED, Map.of());
            say(worker, Event.Kind.EXITED, Map.of("code", 0L));
        }
        new CounterFile(folder).write(counter);
    }

    private List<String> printed() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private void playTo(KillPlan.Phase phase) {
        work(3.2, 1, 2, 3, 4);
        idle();
        if (phase == KillPlan.Phase.KILLED) {
            work(0.8);
            say(VICTIM, Event.Kind.EXITED, Map.of("code", 137L));
        }
    }

    @Test
    void wholePlot_passesAndReadsWell() throws IOException {
        playTo(KillPlan.Phase.KILLED);
        work(3.2);
        increment(3);
        assertThat(scenario.isOver(now)).isFalse();
        work(8, 1, 3, 4);
        assertThat(scenario.isOver(now)).isTrue();
        end(1, 3, 4);

        Verdict verdict = scenario.verdict(List.of());
        assertThat(verdict.isPassed()).as(verdict.toString()).isTrue();
        assertThat(orders).containsExactly("1 begin", "2 begin", "3 begin", "4 begin", "2 idle", "2 kill");
        assertThat(printed())
                .hasSizeLessThan(25)
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80))
                .anyMatch(line -> line.contains("w2      HOLDS with token"))
                .anyMatch(line -> line.contains("w2      KILLED (kill -9)"))
                .anyMatch(line -> line.contains("its session still holds"))
                .anyMatch(line -> line.contains("w3      TOOK OVER from w2 after 3.3 s (limit 4.5 s), token"));
    }

    @Test
    void report_fitsTheTerminal() throws IOException {
        playTo(KillPlan.Phase.KILLED);
        work(3.2);
        work(9, 1, 3, 4);
        end(1, 3, 4);
        Page page = new Page(new PrintStream(bytes, true, StandardCharsets.UTF_8), false);
        roster.printOn(page);
        scenario.verdict(List.of()).and(Check.nothingLeft(List.of())).printOn(page);
        assertThat(printed())
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80))
                .contains("PASSED")
                .anyMatch(line -> line.matches("  w2 +4000002 +\\d+ .* killed"))
                .anyMatch(line -> line.matches("  w4 +4000004 +\\d+ .* in order"));
    }

    @Test
    void nobodyTakesOver_endsAndFails() throws IOException {
        playTo(KillPlan.Phase.KILLED);
        work(20);
        assertThat(scenario.isOver(now)).isTrue();
        end(1, 3, 4);
        assertThat(scenario.verdict(List.of()).checks())
                .contains(new Check(
                        false, "take-over", "nobody took over from w2 within 4.5 s (session 3.0 + tick 0.5 + 1.0)"));
    }

    @Test
    void grantWhileTheVictimHolds_fails() throws IOException {
        playTo(KillPlan.Phase.IDLING);
        increment(4);
        work(0.8);
        work(3.2);
        work(8, 1, 3, 4);
        end(1, 3, 4);
        assertThat(scenario.verdict(List.of()).checks())
                .anyMatch(check -> !check.ok() && check.subject().equals("exclusion"));
    }

    @Test
    void lateNewsOfAnEarlierGrant_isNoTakeOver() {
        playTo(KillPlan.Phase.KILLED);
        say(4, Event.Kind.GRANTED, Map.of("token", counter.token(), "waited", 1L));
        assertThat(printed()).noneMatch(line -> line.contains("TOOK OVER"));
    }

    @Test
    void workerThatIsHeldUpAgainAndAgain_isNamedOnceASecond() {
        for (int i = 0; i < 12; i++) {
            say(1, Event.Kind.LOST, Map.of());
            say(3, Event.Kind.LOST, Map.of());
            work(0.1);
        }
        assertThat(printed())
                .filteredOn(line -> line.contains("was held up"))
                .hasSize(4)
                .filteredOn(line -> line.contains("w1"))
                .hasSize(2);
    }

    @Test
    void unexpectedDeathOfAWorker_endsTheDemoAndFails() throws IOException {
        work(1, 1, 2, 3, 4);
        say(4, Event.Kind.EXITED, Map.of("code", 137L));
        assertThat(scenario.isOver(now)).isTrue();
        end(1, 2, 3);
        assertThat(scenario.verdict(List.of()).checks())
                .contains(new Check(false, "processes", "w4 ended unasked, with exit code 137"))
                .contains(new Check(false, "processes", "w4 did not end in time when it was asked to"));
    }

    @Test
    void deathOfTheServer_endsTheDemoAndFails() {
        say(Event.SERVER, Event.Kind.EXITED, Map.of("code", 1L));
        assertThat(scenario.isOver(now)).isTrue();
        assertThat(scenario.verdict(List.of()).checks())
                .contains(new Check(false, "processes", "server ended unasked, with exit code 1"));
    }

    @Test
    void failedWorker_isReportedOnce() throws IOException {
        scenario.on(new Arrival(now, new Event(1, Event.Kind.FAILED, Map.of(), "no rights on /locks")));
        say(1, Event.Kind.EXITED, Map.of("code", 1L));
        assertThat(scenario.isOver(now)).isTrue();
        assertThat(scenario.verdict(List.of()).checks())
                .filteredOn(check -> check.finding().startsWith("w1 "))
                .extracting(Check::finding)
                .contains("w1 cannot continue: no rights on /locks")
                .doesNotContain("w1 ended unasked, with exit code 1");
    }

    @Test
    void hangingWorker_fails() throws IOException {
        playTo(KillPlan.Phase.KILLED);
        work(3.2);
        work(9, 1, 3, 4);
        end(1, 3);
        assertThat(scenario.verdict(List.of()).checks())
                .contains(new Check(false, "processes", "w4 did not end in time when it was asked to"));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Sets the stage, plays the scenario, clears the stage, and prints the verdict. */
final class Demo {
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(8);
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
    private static final Duration STEP = Duration.ofMillis(20);

    private final DemoOptions options;
    private final Page page;
    private final Timeline timeline;
    private final Roster roster;
    private final String lockPath =
            "/zklock-demo-" + UUID.randomUUID().toString().substring(0, 8);

    Demo(DemoOptions options, Page page) {
        this.options = options;
        this.page = page;
        this.timeline = new Timeline(page, System.nanoTime());
        this.roster = new Roster(options.workers());
    }

    /**
     * Runs the demo.
     *
     * @throws NoServerException if the chosen ensemble does not answer
     * @throws CancellationException if the JVM is being ended, which cleans up
     */
    Verdict run() throws IOException, InterruptedException {
        CleanUp cleanUp = CleanUp.atExit(page);
        Verdict verdict;
        try (cleanUp) {
            verdict = play(cleanUp);
        } catch (IOException | IllegalStateException e) {
            if (cleanUp.isInterrupted()) {
                throw new CancellationException("the demo was interrupted");
            }
            throw e;
        }
        Verdict whole = verdict.and(Check.nothingLeft(cleanUp.failures()));
        page.print(Tone.PLAIN, "");
        roster.printOn(page);
        page.print(Tone.PLAIN, "");
        whole.printOn(page);
        return whole;
    }

    private Verdict play(CleanUp cleanUp) throws IOException, InterruptedException {
        Path folder = cleanUp.make(DemoFolder::create, DemoFolder::delete);
        DemoProcesses processes = new DemoProcesses(cleanUp);
        LockSite site = openSite(cleanUp, processes, folder);
        cleanUp.make(() -> site, LockSite::remove);
        for (Roster.Member member : roster.members()) {
            processes.start(member.number(), workerArguments(member, site, folder));
        }
        await(processes, roster::isReady, this::onStart);
        Scenario scenario = options.recipe().scenario(new ScenarioMeans(options, folder, timeline, processes, roster));
        perform(scenario, processes);
        stop(scenario, processes);
        return scenario.verdict(site.nodes());
    }

    /** Finds the ensemble, or starts a server. */
    private LockSite openSite(CleanUp cleanUp, DemoProcesses processes, Path folder)
            throws IOException, InterruptedException {
        Optional<String> given = options.connectString();
        page.print(
                Tone.STRONG,
                "zklock demo " + options.recipe() + ": " + options.recipe().title(options.workers()));
        page.print(Tone.PLAIN, "");
        timeline.tell(
                System.nanoTime(),
                "server",
                Tone.PLAIN,
                given.map(hosts -> "connecting to " + hosts).orElse("starting a process of its own"));
        String connectString = given.isPresent() ? given.get() : startServer(processes, folder);
        LockSite site = LockSite.open(connectString, lockPath, CONNECT_LIMIT);
        cleanUp.make(() -> site, LockSite::close);
        timeline.tell(
                System.nanoTime(),
                "server",
                Tone.PLAIN,
                "at " + connectString + ", tick " + Timeline.show(options.tick()) + ", lock " + lockPath);
        return site;
    }

    private static String startServer(DemoProcesses processes, Path folder) throws IOException, InterruptedException {
        processes.start(Event.SERVER, List.of("server", "--folder", folder.toString()));
        StringBuilder address = new StringBuilder();
        await(
                processes,
                () -> !address.isEmpty(),
                arrival -> address.append(arrival.event().note()));
        return address.toString();
    }

    private List<String> workerArguments(Roster.Member worker, LockSite site, Path folder) {
        return List.of(
                "worker",
                "--recipe=" + options.recipe(),
                "--number=" + worker.number(),
                "--connect=" + site.connectString(),
                "--path=" + lockPath,
                "--folder=" + folder);
    }

    private void onStart(Arrival arrival) {
        Event event = arrival.event();
        roster.on(event);
        Roster.Member member = roster.member(event.worker());
        timeline.tell(
                arrival.nanos(),
                member.name(),
                Tone.PLAIN,
                "process " + member.pid() + ", session time-out " + Timeline.show(member.sessionTimeout()));
    }

    /** Waits until the children stand ready. */
    private static void await(DemoProcesses processes, BooleanSupplier ready, Consumer<Arrival> onReady)
            throws InterruptedException {
        long deadline = System.nanoTime() + START_LIMIT.toNanos();
        while (!ready.getAsBoolean()) {
            Optional<Arrival> arrival = processes.next(STEP);
            if (arrival.isPresent()) {
                Event event = arrival.get().event();
                if (event.kind() != Event.Kind.READY) {
                    throw new IllegalStateException(Timeline.name(event.worker()) + " did not start: " + event.line());
                }
                onReady.accept(arrival.get());
            } else if (System.nanoTime() - deadline >= 0) {
                throw new IllegalStateException(
                        "not all processes have started and connected within " + Timeline.show(START_LIMIT));
            }
        }
    }

    private void perform(Scenario scenario, DemoProcesses processes) throws InterruptedException {
        scenario.begin(System.nanoTime());
        while (!scenario.isOver(System.nanoTime())) {
            processes.next(STEP).ifPresent(scenario::on);
            scenario.at(System.nanoTime());
        }
    }

    /** Asks the workers to end, and handles their last events. */
    private void stop(Scenario scenario, DemoProcesses processes) throws InterruptedException {
        timeline.tell(System.nanoTime(), "all", Tone.PLAIN, "asked to stop");
        processes.stopWorkers();
        long deadline = System.nanoTime() + STOP_LIMIT.toNanos();
        while (processes.hasWorkers() && System.nanoTime() - deadline < 0) {
            processes.next(STEP).ifPresent(scenario::on);
        }
        timeline.tell(System.nanoTime(), "all", Tone.PLAIN, processes.hasWorkers() ? "some do not end" : "ended");
    }
}

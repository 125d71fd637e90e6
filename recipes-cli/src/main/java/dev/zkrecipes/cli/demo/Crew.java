// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The child processes of a demo: its server, if it has one, and its workers. */
final class Crew implements Direction {
    private final CleanUp cleanUp;
    private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    private final Map<Integer, ChildProcess> children = new ConcurrentHashMap<>();

    Crew(CleanUp cleanUp) {
        this.cleanUp = cleanUp;
    }

    /** Starts a child, which is killed at the end of the demo if it still lives then. */
    void start(int number, List<String> arguments) throws IOException {
        ChildProcess child =
                cleanUp.make(() -> ChildProcess.start(number, arguments, arrivals::add), ChildProcess::end);
        children.put(number, child);
    }

    /** What happened next; empty if nothing did within that time. */
    Optional<Arrival> next(Duration limit) throws InterruptedException {
        Optional<Arrival> arrival = Optional.ofNullable(arrivals.poll(limit.toNanos(), TimeUnit.NANOSECONDS));
        arrival.map(Arrival::event)
                .filter(event -> event.kind() == Event.Kind.EXITED)
                .ifPresent(event -> children.remove(event.worker()));
        return arrival;
    }

    @Override
    public void order(int worker, Order order) {
        ChildProcess child = children.get(worker);
        if (child != null) {
            child.order(order);
        }
    }

    @Override
    public void kill(int worker) {
        ChildProcess child = children.get(worker);
        if (child != null) {
            child.kill();
        }
    }

    /** Whether there are workers whose exit {@link #next} has not told. */
    boolean hasWorkers() {
        return children.keySet().stream().anyMatch(number -> number != Event.SERVER);
    }

    void stopWorkers() {
        children.forEach((number, child) -> {
            if (number != Event.SERVER) {
                child.order(Order.STOP);
            }
        });
    }
}

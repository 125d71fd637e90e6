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
final class DemoProcesses implements Direction {
    private final CleanUp cleanUp;
    private final BlockingQueue<Arrival> arrivals = new LinkedBlockingQueue<>();
    private final Map<Integer, ChildProcess> children = new ConcurrentHashMap<>();

    DemoProcesses(CleanUp cleanUp) {
        this.cleanUp = cleanUp;
    }

    /** Starts a child. The end of the demo kills it if it is still alive. */
    void start(int number, List<String> arguments) throws IOException {
        ChildProcess child =
                cleanUp.make(() -> ChildProcess.start(number, arguments, arrivals::add), ChildProcess::end);
        children.put(number, child);
    }

    /** The next event; empty if there is none within that time. */
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

    /** Whether there are workers whose exit {@link #next} has not yet returned. */
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

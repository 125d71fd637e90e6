// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Cycle;
import dev.zkrecipes.bench.contender.LockClient;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Crew;
import dev.zkrecipes.bench.runner.Together;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** The sessions of one contender, each with a path, or a folder of paths, of its own. Not thread-safe. */
final class Crowd implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Contender contender;
    private final Work work;
    private final String connectString;
    private final List<Session> sessions = new ArrayList<>();

    Crowd(Contender contender, Work work, String connectString) {
        this.contender = contender;
        this.work = work;
        this.connectString = connectString;
    }

    private record Session(LockClient client, Cycle cycle) {}

    /**
     * Opens or closes sessions until there are this many. If one cannot be opened, closes all that this call has
     * opened.
     */
    void resize(int count) throws Exception {
        List<LockClient> opened = Collections.synchronizedList(new ArrayList<>());
        List<Callable<Session>> opening = IntStream.range(sessions.size(), count)
                .<Callable<Session>>mapToObj(number -> () -> open(number, opened))
                .toList();
        try {
            sessions.addAll(Together.call(opening));
        } catch (Exception e) {
            Together.close(opened); // all calls have ended, and only this list has the clients that they opened
            throw e;
        }
        List<Session> left = sessions.subList(count, sessions.size());
        Together.close(left.stream().map(Session::client).toList());
        left.clear();
    }

    /** Opens a session, and takes and releases its lock once, which creates its path or folder. */
    private Session open(int number, List<LockClient> opened) throws Exception {
        LockClient client = contender.connect(connectString, TIMEOUT);
        opened.add(client);
        Cycle cycle = client.cycle(work, 1, "/scale/" + number);
        cycle.acquire().close();
        return new Session(client, cycle);
    }

    /**
     * Starts a crew that takes and releases locks, with one thread for each of the first {@code count} sessions.
     *
     * @param count how many sessions take locks
     * @param locksPerSecond the rate of all of them together, by a schedule; 0 if each session takes its next lock as
     *     soon as it has released the one before
     */
    Crew start(int count, double locksPerSecond) {
        List<Cycle> cycles =
                sessions.subList(0, count).stream().map(Session::cycle).toList();
        return Crew.start(cycles, locksPerSecond == 0 ? 0 : Math.round(count * 1e9 / locksPerSecond));
    }

    @Override
    public void close() {
        try {
            Together.close(sessions.stream().map(Session::client).toList());
        } catch (Exception e) {
            throw new IllegalStateException("cannot close all sessions", e);
        }
    }
}

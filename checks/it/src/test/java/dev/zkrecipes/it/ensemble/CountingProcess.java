// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.it.ensemble.Write.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.Op;

/**
 * A process that counts under locks of every recipe, carelessly: it writes at the end of each hold without checking
 * whether the lease is still held, and relies on the guard. Meanwhile it keeps asking whether the lease is valid, and
 * records the last time that it was. When its standard input ends it takes every lock once more, and exits.
 */
final class CountingProcess implements AutoCloseable {
    static final Duration SESSION = Duration.ofSeconds(2);

    /** Long enough for a fault to hit a holder, and for a session to end under it. */
    private static final int LONG_STAY_MILLIS = 4500;

    private static final int SHORT_STAY_MILLIS = 30;
    private static final int LONG_STAYS_ONE_IN = 16;
    private static final long LAST_ROUND_MINUTES = 2;
    private static final List<Way> WAYS = List.of(Way.values());

    private final int number;
    private final Random random;
    private final Diary diary;
    private final Store store;
    private final ZooKeeperClient client;
    private final Map<Way, InterProcessLock> locks = new EnumMap<>(Way.class);
    private final ExecutorService writer = Executors.newSingleThreadExecutor();
    private final Future<?> stopped = CompletableFuture.runAsync(CountingProcess::awaitEndOfInput, task -> {
        Thread thread = new Thread(task, "awaits-end-of-input");
        thread.setDaemon(true);
        thread.start();
    });
    private final AtomicInteger writes = new AtomicInteger();

    private CountingProcess(String forLocks, String forStore, int number, Path folder, long seed) throws IOException {
        this.number = number;
        this.random = new Random(seed);
        this.diary = new Diary(folder, number);
        this.store = new Store(forStore);
        this.client = ZooKeeperClient.builder()
                .connectString(forLocks)
                .sessionTimeout(SESSION)
                .ownerLabel(label(number))
                .build();
        for (Way way : WAYS) {
            locks.put(way, way.lock(client));
        }
    }

    /** By which it can be found among the participants. */
    static String label(int number) {
        return "counting-" + number;
    }

    /** Arguments: connect string for the locks, for the store, number, folder of the diaries, seed. */
    public static void main(String[] args) throws Exception {
        try (CountingProcess process = new CountingProcess(
                args[0], args[1], Integer.parseInt(args[2]), Path.of(args[3]), Long.parseLong(args[4]))) {
            process.count();
        } catch (Throwable t) {
            t.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void awaitEndOfInput() {
        try {
            while (System.in.read() >= 0) {
                // nothing is written to it
            }
        } catch (IOException e) {
            // as its end
        }
        CompletableFuture.delayedExecutor(LAST_ROUND_MINUTES, TimeUnit.MINUTES)
                .execute(() -> Runtime.getRuntime().halt(2));
    }

    private void count() throws Exception {
        while (!stopped.isDone()) {
            Way way = WAYS.get(random.nextInt(WAYS.size()));
            boolean stayLong = random.nextInt(LONG_STAYS_ONE_IN) == 0;
            Duration stay = Duration.ofMillis(
                    stayLong ? LONG_STAY_MILLIS - random.nextInt(2000) : random.nextInt(SHORT_STAY_MILLIS));
            Optional<Lease> lease = acquire(locks.get(way));
            if (lease.isPresent()) {
                hold(way, lease.get(), stay);
            }
        }
        for (Way way : WAYS) {
            hold(way, locks.get(way).acquire(), Duration.ZERO);
        }
    }

    private Optional<Lease> acquire(InterProcessLock lock) throws InterruptedException {
        try {
            return switch (random.nextInt(6)) {
                case 0 -> lock.tryAcquire();
                case 1 -> lock.tryAcquire(Duration.ofMillis(random.nextInt(2000)));
                default -> Optional.of(lock.acquire());
            };
        } catch (LockConnectionException e) {
            return Optional.empty(); // a try, without a connection
        }
    }

    private void hold(Way way, Lease lease, Duration stay) throws Exception {
        long grantedAt = System.nanoTime();
        long lastValidAt = Long.MIN_VALUE;
        try (lease) {
            Map<String, Long> tokens = MultiLease.tokensOf(lease);
            List<Op> guards = MultiLease.guardsOf(lease);
            if (stay.toMillis() > SHORT_STAY_MILLIS && way.isExclusive()) {
                diary.add(new Diary.Stay(way, nextId()));
            }
            Future<Outcome> written = null;
            while (written == null || !written.isDone()) {
                long asked = System.nanoTime();
                if (lease.isValid()) {
                    lastValidAt = asked;
                }
                if (written == null && (asked - grantedAt >= stay.toNanos() || stopped.isDone())) {
                    written = way.isExclusive()
                            ? writer.submit(() -> write(way, guards, tokens))
                            : CompletableFuture.completedFuture(Outcome.DONE);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
            if (written.get() == Outcome.REFUSED && lease.state() == LeaseState.HELD) {
                throw new IllegalStateException("the guard of a lease that is held was refused: " + way);
            }
            for (String name : way.names()) {
                long token = tokens.get(Way.path(name));
                diary.add(new Hold(name, way.isExclusive(), token, grantedAt, Math.max(grantedAt - 1, lastValidAt)));
            }
        } catch (LockLostException e) {
            // Lost before anything was done under it.
        } catch (ExecutionException e) {
            throw new IllegalStateException("could not write", e.getCause());
        }
    }

    private Outcome write(Way way, List<Op> guards, Map<String, Long> tokens) throws IOException, InterruptedException {
        String id = nextId();
        writes.incrementAndGet();
        Outcome outcome = store.increment(
                way.names(), guards, id, tokens.get(Way.path(way.names().get(0))));
        diary.add(new Write(id, way.names(), outcome));
        return outcome;
    }

    /** The id of the next write: one is over before the next hold begins. */
    private String nextId() {
        return number + "-" + writes.get();
    }

    @Override
    public void close() throws InterruptedException {
        client.close();
        writer.shutdown();
        store.close();
    }
}

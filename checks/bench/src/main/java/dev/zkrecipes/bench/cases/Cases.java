// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import static dev.zkrecipes.bench.contender.Contender.BARE;
import static dev.zkrecipes.bench.contender.Contender.CURATOR;
import static dev.zkrecipes.bench.contender.Contender.OURS;

import dev.zkrecipes.bench.contender.Bare;
import dev.zkrecipes.bench.contender.Curator;
import dev.zkrecipes.bench.contender.Ours;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.core.LockOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** All cases, in the order in which they are measured. */
public final class Cases {
    private static final List<BenchCase> ALL = new ArrayList<>();

    static {
        uncontended();
        recipes();
        threads();
        clients();
        ALL.add(paths());
        ALL.add(reentrant());
        waiters();
        ALL.add(requests());
    }

    private Cases() {}

    /** All of them. */
    public static List<BenchCase> all() {
        return List.copyOf(ALL);
    }

    /** The case with that name. */
    public static Optional<BenchCase> find(String name) {
        return ALL.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    private static void uncontended() {
        ALL.add(BenchCase.named("uncontended", "one thread acquires and releases a mutex; bare: create and delete")
                .at(0, 2, 10)
                .onDisk()
                .ours(Ours.mutex(LockOptions.defaults()))
                .curator(Curator.mutex())
                .bare(Bare.createAndDelete())
                .target(0, Metric.RATE, CURATOR, 1.4)
                .target(0, Metric.ACQUIRE, BARE, 1.15)
                .target(2, Metric.ACQUIRE, CURATOR, 0.52)
                .target(2, Metric.ACQUIRE, BARE, 1.05)
                .target(10, Metric.ACQUIRE, CURATOR, 0.52)
                .target(10, Metric.ACQUIRE, BARE, 1.05)
                .target(0, Metric.CPU, CURATOR, 1.1)
                .target(0, Metric.ALLOCATED, 9 * 1024)
                .build());
        ALL.add(BenchCase.named(
                        "uncontended-not-awaited", "the same, but ours and bare continue when the delete is sent")
                .at(0, 2)
                .ours(Ours.mutexNotAwaited())
                .curator(Curator.mutex())
                .bare(Bare.createAndDeleteNotAwaited())
                .build());
        ALL.add(BenchCase.named("uncontended-background", "the same by the option releaseInBackground")
                .at(0, 2)
                .ours(Ours.mutex(LockOptions.defaults().withReleaseInBackground()))
                .curator(Curator.mutex())
                .bare(Bare.createAndDeleteNotAwaited())
                .target(0, Metric.RATE, CURATOR, 2.2)
                .build());
    }

    private static void recipes() {
        for (int permits : new int[] {1, 4}) {
            ALL.add(BenchCase.named("semaphore-" + permits, "all " + permits + " permits of a semaphore at once")
                    .at(0)
                    .ours(Ours.semaphore(permits))
                    .curator(Curator.semaphore(permits))
                    .bare(Bare.createAndDelete())
                    .target(0, Metric.RATE, CURATOR, permits == 1 ? 3 : 8)
                    .build());
        }
        int paths = 8;
        ALL.add(BenchCase.named("multi-lock-8", "a multi-lock of 8 paths; bare: two transactions")
                .at(0, 2)
                .ours(Ours.multiLock(paths))
                .curator(Curator.multiLock(paths))
                .bare(Bare.transaction(paths))
                .target(2, Metric.ACQUIRE, CURATOR, 0.08)
                .build());
    }

    private static void threads() {
        int[] counts = {2, 8, 32, 200};
        double[] targets = {1.2, 3, 9, 45};
        IntStream.range(0, counts.length)
                .mapToObj(i -> BenchCase.named(
                                "threads-" + counts[i],
                                counts[i] + " threads want one mutex of one client; bare: textbook")
                        .threads(counts[i])
                        .at(0)
                        .ours(Ours.mutex(LockOptions.defaults()))
                        .curator(Curator.mutex())
                        .bare(Bare.textbook())
                        .target(0, Metric.RATE, CURATOR, targets[i])
                        .build())
                .forEach(ALL::add);
        ALL.add(BenchCase.named(
                        "threads-32-local", "the same with 32 threads, passed on 64 times in a row; bare: textbook")
                .threads(32)
                .at(0)
                .ours(Ours.handoffMutex(64))
                .curator(Curator.mutex())
                .bare(Bare.textbook())
                .target(0, Metric.RATE, CURATOR, 150)
                .build());
    }

    private static void clients() {
        for (int count : new int[] {2, 8, 32}) {
            ALL.add(BenchCase.named(
                            "clients-" + count, count + " clients with a thread each want one path; bare: textbook")
                    .threads(count)
                    .at(0, 2)
                    .ours(Ours.mutexOfClients(count))
                    .curator(Curator.mutexOfClients(count))
                    .bare(Bare.textbookOfClients(count))
                    .target(0, Metric.RATE, CURATOR, 1.3)
                    .target(2, Metric.RATE, CURATOR, 1.8)
                    .build());
        }
    }

    private static BenchCase paths() {
        int count = 32;
        return BenchCase.named("paths-32", "32 threads of one client with a path each; bare: create and delete")
                .threads(count)
                .at(0)
                .ours(Ours.mutexOfPaths())
                .curator(Curator.mutexOfPaths())
                .bare(Bare.createAndDeleteOfPaths(count))
                .target(0, Metric.RATE, BARE, 0.85)
                .build();
    }

    private static BenchCase reentrant() {
        int times = 1_000;
        return BenchCase.named("reentrant", "a thread acquires and releases what it holds already")
                .acquiresPerCycle(times)
                .at(0)
                .ours(Ours.reentrant(times))
                .curator(Curator.reentrant(times))
                .target(0, Metric.ACQUIRE, CURATOR, 4)
                .target(0, Metric.ALLOCATED, 100)
                .build();
    }

    /** Of ours only: Curator has no waiters without a thread. */
    private static void waiters() {
        for (int count : new int[] {100, 1_000, 10_000}) {
            BenchCase.Builder waiters = BenchCase.named(
                            "waiters-" + count, count + " asynchronous requests of one client wait; each hand-over")
                    .at(0)
                    .contender(OURS, new WaitingQueue(count));
            if (count == 10_000) {
                waiters.target(0, Metric.HEAP, 3 * 1024);
            }
            ALL.add(waiters.build());
        }
    }

    private static BenchCase requests() {
        return BenchCase.named(
                        "requests", "requests of an acquire that has to wait, and its release, one after the other")
                .at(0)
                .contender(OURS, new ContendedRequests(Ours.mutexOfClients(2)))
                .contender(CURATOR, new ContendedRequests(Curator.mutexOfClients(2)))
                .contender(BARE, new ContendedRequests(Bare.textbookOfClients(2)))
                .target(0, Metric.REQUESTS, 5)
                .build();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import com.google.common.base.Splitter;
import dev.zkrecipes.bench.compare.BenchCase.Setting;
import dev.zkrecipes.bench.compare.BenchCase.Target;
import dev.zkrecipes.bench.compare.BenchCase.Threads;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Store;
import java.util.List;
import java.util.Optional;

/** All cases, in the order in which they are measured. */
final class Cases {
    /**
     * One case a line. The columns are: name; work and its size; the numbers of threads, clients and paths; the
     * settings, which are milliseconds added to each round trip, with the store in memory, or {@code disk};
     * description; and then the targets. A target is the milliseconds added to each round trip, a metric, the contender
     * by whose figure ours is divided or OURS for the figure itself, and the bound.
     */
    private static final String TABLE = """
            uncontended      | MUTEX 1         | 1 1 1   | 0 2 10 disk | one thread acquires and releases a mutex \
                | 0 RATE CURATOR 1.4 | 0 ACQUIRE BARE 1.15 | 2 ACQUIRE CURATOR 0.52 | 2 ACQUIRE BARE 1.05 \
                | 10 ACQUIRE CURATOR 0.52 | 10 ACQUIRE BARE 1.05 | 0 CPU BARE 1.25 | 0 ALLOCATED OURS 9216 \
                | 0 REQUESTS OURS 2.05
            uncontended-background | BACKGROUND 1 | 1 1 1   | 0 2      | the same by the option releaseInBackground \
                | 0 RATE CURATOR 2.2
            new-path         | NEW_PATH 1      | 1 1 1   | 0 2      | the same, each path used once, such as one for each order \
                | 2 RATE CURATOR 3.3 | 2 RATE BARE 0.91 | 2 REQUESTS OURS 2.05
            semaphore-1      | SEMAPHORE 1     | 1 1 1   | 0    | the only permit of a semaphore | 0 RATE CURATOR 3
            semaphore-4      | SEMAPHORE 4     | 1 1 1   | 0    | all 4 permits of a semaphore | 0 RATE CURATOR 8
            multi-lock-8     | MULTI_LOCK 8    | 1 1 1   | 0 2  | a multi-lock of 8 paths \
                | 2 ACQUIRE CURATOR 0.08
            threads-2        | CONTENDED 1     | 2 1 1   | 0    | 2 threads want one mutex | 0 RATE CURATOR 1.2
            threads-8        | CONTENDED 1     | 8 1 1   | 0    | 8 threads want one mutex | 0 RATE CURATOR 3
            threads-32       | CONTENDED 1     | 32 1 1  | 0    | 32 threads want one mutex | 0 RATE CURATOR 9
            threads-200      | CONTENDED 1     | 200 1 1 | 0    | 200 threads want one mutex | 0 RATE CURATOR 45
            threads-32-local | HANDOFF 64      | 32 1 1  | 0    | the same with 32, passed on 64 times in a row \
                | 0 RATE CURATOR 150
            clients-2        | CONTENDED 1     | 2 2 1   | 0 2  | 2 clients with a thread each want one path \
                | 0 RATE CURATOR 1.3 | 2 RATE CURATOR 1.8
            clients-8        | CONTENDED 1     | 8 8 1   | 0 2  | 8 clients with a thread each want one path \
                | 0 RATE CURATOR 1.3 | 2 RATE CURATOR 1.8
            clients-32       | CONTENDED 1     | 32 32 1 | 0 2  | 32 clients with a thread each want one path \
                | 0 RATE CURATOR 1.3 | 2 RATE CURATOR 1.8
            paths-32         | MUTEX 1         | 32 1 32 | 0    | 32 threads with a path each | 0 RATE BARE 0.92
            kept             | KEPT 1000       | 1 1 1   | 0    | a hand-off mutex that stays in the process \
                | 0 RATE OURS 1000000
            reentrant        | REENTRANT 1000  | 1 1 1   | 0    | a thread takes what it holds already \
                | 0 ACQUIRE CURATOR 4 | 0 ALLOCATED OURS 100
            waiters-100      | WAITERS 100     | 1 1 1   | 0    | so many asynchronous requests; each hand-over
            waiters-1000     | WAITERS 1000    | 1 1 1   | 0    | so many asynchronous requests; each hand-over
            waiters-10000    | WAITERS 10000   | 1 1 1   | 0    | so many asynchronous requests; each hand-over \
                | 0 HEAP OURS 3072
            """;

    static final List<BenchCase> ALL = TABLE.lines().map(Cases::parse).toList();

    private Cases() {}

    /** Returns the case with this name; empty if there is none. */
    static Optional<BenchCase> find(String name) {
        return ALL.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    private static BenchCase parse(String row) {
        List<String> cells = Splitter.on('|').trimResults().splitToList(row);
        List<String> work = words(cells.get(1));
        List<Integer> threads =
                words(cells.get(2)).stream().map(Integer::valueOf).toList();
        return new BenchCase(
                cells.get(0),
                cells.get(4),
                Work.valueOf(work.get(0)),
                Integer.parseInt(work.get(1)),
                new Threads(threads.get(0), threads.get(1), threads.get(2)),
                words(cells.get(3)).stream().map(Cases::setting).toList(),
                cells.stream().skip(5).map(Cases::target).toList());
    }

    private static Setting setting(String word) {
        return word.equals("disk") ? new Setting(0, Store.DISK) : Setting.memory(Integer.parseInt(word));
    }

    private static Target target(String cell) {
        List<String> words = words(cell);
        return new Target(
                Integer.parseInt(words.get(0)),
                Metric.valueOf(words.get(1)),
                Contender.valueOf(words.get(2)),
                Double.parseDouble(words.get(3)));
    }

    private static List<String> words(String cell) {
        return Splitter.on(' ').omitEmptyStrings().splitToList(cell);
    }
}

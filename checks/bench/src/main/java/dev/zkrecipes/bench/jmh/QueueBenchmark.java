// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.jmh;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs.Ids;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a list costs when it has come: parsing and sorting its names, and deciding for the last. In the order of no
 * server: shuffled.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class QueueBenchmark {
    private static final int SEED = 7;

    /** How many nodes the path has. */
    @Param({"10", "100", "1000", "10000"})
    public int children;

    private LockSpec spec;
    private List<String> names;
    private LockNode last;

    /** Makes the names. */
    @Setup
    public void makeNames() {
        spec = new LockSpec(Ids.OPEN_ACL_UNSAFE, "/bench/queue", new MutexDriver(), LockOptions.defaults());
        Random random = new Random(SEED);
        names = new ArrayList<>();
        for (int i = 0; i < children; i++) {
            names.add(String.format(Locale.ROOT, "%016x%016x-lock-%010d", random.nextLong(), random.nextLong(), i));
        }
        last = spec.parse(names.get(children - 1)).orElseThrow();
        Collections.shuffle(names, random);
    }

    /** Parses, sorts and decides. */
    @Benchmark
    public Decision sortAndDecide() {
        return Objects.requireNonNull(new LockQueue(spec, names, null).decideOnOwn(last));
    }

    /** Only parses. */
    @Benchmark
    public int parse() {
        int ours = 0;
        for (String name : names) {
            ours += spec.parse(name).isPresent() ? 1 : 0;
        }
        return ours;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.micro;

import dev.zkrecipes.core.spi.LockNode;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Parses one name of each form. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ParsingBenchmark {
    /** Not final: the compiler must not know them. */
    private String ours = "0123456789abcdef0123456789abcdef-lock-0000000042";

    private String curators = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000042";
    private String weighted = "0123456789abcdef0123456789abcdef-lease.3-0000000042";
    private String foreign = "some-other-child";

    /** A node of ours. */
    @Benchmark
    public Optional<LockNode> ours() {
        return LockNode.parse(ours, "lock-");
    }

    /** A node of Curator's. */
    @Benchmark
    public Optional<LockNode> curators() {
        return LockNode.parse(curators, "lock-");
    }

    /** A node with a payload. */
    @Benchmark
    public Optional<LockNode> weighted() {
        return LockNode.parseWithPayload(weighted, "lease.");
    }

    /** No lock node at all. */
    @Benchmark
    public Optional<LockNode> foreign() {
        return LockNode.parse(foreign, "lock-");
    }
}

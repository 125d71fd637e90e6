// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import com.google.common.base.Splitter;
import com.google.common.primitives.ImmutableLongArray;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.server.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The sessions of one contender, in several JVMs. What fails in one of them fails here; then only close it. */
final class Crowd implements AutoCloseable {
    /** A session has two to five threads. */
    private static final List<String> OPTIONS = List.of("-Xms1g", "-Xmx1g", "-Xss256k");

    private final List<ChildJvm> jvms = new ArrayList<>();

    /**
     * What sessions did from their start to their stop.
     *
     * @param locks all that were taken
     * @param micros to acquire each of those that counted, sorted
     */
    record Work(long locks, ImmutableLongArray micros) {}

    Crowd(Contender contender, String connectString, int count) {
        for (int i = 0; i < count; i++) {
            jvms.add(ChildJvm.start(
                    OPTIONS,
                    CrowdProcess.class,
                    contender.name(),
                    connectString,
                    String.valueOf(i),
                    String.valueOf(count)));
        }
    }

    /** Opens or closes sessions until there are so many. */
    void resize(int sessions) {
        ask("size " + sessions);
    }

    /**
     * Starts taking locks, in this many of the sessions.
     *
     * @param locksPerSecond of all together, by a schedule; 0 for each at once after the one before
     */
    void start(int sessions, double locksPerSecond) {
        ask("start " + sessions + " " + (locksPerSecond == 0 ? 0 : Math.round(sessions * 1e9 / locksPerSecond)));
    }

    /** Locks granted from now on count. */
    void count() {
        ask("count");
    }

    /** Ends the counting and the sessions' work, and returns when they have given back their last locks. */
    Work stop() {
        List<ImmutableLongArray> answers =
                ask("stop").stream().map(Crowd::numbers).toList();
        return new Work(
                answers.stream().mapToLong(answer -> answer.get(0)).sum(),
                ImmutableLongArray.copyOf(answers.stream()
                        .flatMapToLong(answer -> answer.stream().skip(1))
                        .sorted()));
    }

    private static ImmutableLongArray numbers(String answer) {
        return ImmutableLongArray.copyOf(
                Splitter.on(' ').omitEmptyStrings().splitToStream(answer).mapToLong(Long::parseLong));
    }

    Duration processorTime() {
        return jvms.stream().map(ChildJvm::processorTime).reduce(Duration.ZERO, Duration::plus);
    }

    List<ChildJvm> jvms() {
        return List.copyOf(jvms);
    }

    private List<String> ask(String question) {
        jvms.forEach(jvm -> jvm.tell(question));
        List<String> answers = new ArrayList<>();
        for (ChildJvm jvm : jvms) {
            String name = "client JVM " + (answers.size() + 1) + " of " + jvms.size() + ": ";
            try {
                answers.add(jvm.answer());
            } catch (IllegalStateException e) {
                throw new IllegalStateException(name + e.getMessage(), e);
            }
            String answer = answers.get(answers.size() - 1);
            if (answer.startsWith(CrowdProcess.FAILED)) {
                throw new IllegalStateException(name + answer);
            }
        }
        return answers;
    }

    @Override
    public void close() {
        jvms.forEach(ChildJvm::close);
    }
}

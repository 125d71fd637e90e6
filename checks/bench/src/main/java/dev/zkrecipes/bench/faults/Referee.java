// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Subject;
import dev.zkrecipes.bench.faults.FaultVerdict.Evidence;
import java.io.Serializable;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What no fault reaches: it hears what holders do, and has counters outside ZooKeeper, as a database would. Holders
 * read one when they are granted, and write it back, one more, when they are done. Counters of one kind take any
 * write, those of the other refuse tokens below the greatest that they have seen. Every request has its token, so it
 * is known which writes are stale: they come after a later holder has read.
 */
interface Referee extends Remote {
    /** Is returned where a token is refused. */
    long REFUSED = -1;

    /** A process has begun, by its clock. */
    void begun(long nanoTime) throws RemoteException;

    /** A holder began, or ended. */
    void note(Tenure tenure) throws RemoteException;

    /** A call of a library failed. */
    void failed(Subject subject) throws RemoteException;

    /** A thread took its lock once more at the end. */
    void served(Subject subject, String thread) throws RemoteException;

    /** A counter's value, or {@link #REFUSED}. */
    long read(Counter counter, long token) throws RemoteException;

    /** Sets it, and returns the value, or {@link #REFUSED}. */
    long write(Counter counter, long token, long value) throws RemoteException;

    /** A counter: that of a lock of a subject, and whether it checks tokens. */
    record Counter(Subject subject, int lock, boolean checksTokens) implements Serializable {}

    /** What became of a counter; {@code accepted} writes should have made it this large. */
    record State(long value, long greatestToken, long accepted) {}

    /** What it has heard and counted. */
    final class Notebook implements Referee {
        private final Map<String, Tenure> tenures = new HashMap<>();
        private final Map<Counter, State> counters = new HashMap<>();
        private final List<Counter> staleWrites = new ArrayList<>();
        private final Map<Subject, Integer> failures = new HashMap<>();
        private final Map<Subject, Set<String>> served = new HashMap<>();

        @Override
        public synchronized void begun(long nanoTime) {
            if (Math.abs(System.nanoTime() - nanoTime) > 60e9) {
                throw new IllegalStateException("the JVMs of this machine do not share the clock of System.nanoTime()");
            }
        }

        @Override
        public synchronized void note(Tenure tenure) {
            tenures.put(tenure.node(), tenure);
        }

        @Override
        public synchronized void failed(Subject subject) {
            failures.merge(subject, 1, Integer::sum);
        }

        @Override
        public synchronized void served(Subject subject, String thread) {
            served.computeIfAbsent(subject, any -> new HashSet<>()).add(thread);
        }

        @Override
        public synchronized long read(Counter counter, long token) {
            State old = counters.getOrDefault(counter, new State(0, 0, 0));
            if (counter.checksTokens && token < old.greatestToken) {
                return REFUSED;
            }
            counters.put(counter, new State(old.value, Math.max(old.greatestToken, token), old.accepted));
            return old.value;
        }

        @Override
        public synchronized long write(Counter counter, long token, long value) {
            if (read(counter, token) == REFUSED) {
                return REFUSED;
            }
            State old = counters.getOrDefault(counter, new State(0, 0, 0));
            if (token < old.greatestToken) {
                staleWrites.add(counter);
            }
            counters.put(counter, new State(value, old.greatestToken, old.accepted + 1));
            return value;
        }

        synchronized Evidence evidence(ServerLog log, long tolerance) {
            return new Evidence(
                    List.copyOf(tenures.values()), log, Map.copyOf(counters), List.copyOf(staleWrites), tolerance);
        }

        synchronized int failures(Subject subject) {
            return failures.getOrDefault(subject, 0);
        }

        synchronized int served(Subject subject) {
            return served.getOrDefault(subject, Set.of()).size();
        }
    }
}

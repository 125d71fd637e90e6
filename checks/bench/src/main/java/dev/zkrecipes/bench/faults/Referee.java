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
 * Records what holders do, and keeps counters outside ZooKeeper, as a database would. No fault reaches the referee. A
 * holder that may write reads a counter when it has been granted the lock, and writes back the value plus one when it
 * is done. Counters of one kind accept any write, and those of the other kind refuse tokens below the greatest that
 * they have seen. Every request carries its token, so the referee knows which writes are stale: those that come after a
 * later holder has read.
 */
interface Referee extends Remote {
    /** The result of a request whose token is refused. */
    long REFUSED = -1;

    /**
     * Reports that a client process has begun, with the time of its clock. Throws {@link IllegalStateException} if the
     * referee has another clock.
     */
    void begun(long nanoTime) throws RemoteException;

    /** Reports a hold when it has begun, and again when it ends. */
    void note(Tenure tenure) throws RemoteException;

    /** Reports that a call of a library failed. */
    void failed(Subject subject) throws RemoteException;

    /** Reports that a thread has taken its lock once more at the end. */
    void served(Subject subject, String thread) throws RemoteException;

    /** Returns the value of a counter, or {@link #REFUSED}. */
    long read(Counter counter, long token) throws RemoteException;

    /** Sets a counter and returns its new value, or {@link #REFUSED}. */
    long write(Counter counter, long token, long value) throws RemoteException;

    /** A counter: that of a lock of a subject, and whether it checks tokens. */
    record Counter(Subject subject, int lock, boolean checksTokens) implements Serializable {}

    /** The state of a counter. Its value is the number of {@code accepted} writes unless increments were lost. */
    record State(long value, long greatestToken, long accepted) {}

    /** The referee's records and counters, in memory. */
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.DelegatingLock;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;

/**
 * Elections as a lock, so that the explorer plays them: to acquire is to stand until elected, to give back is to leave,
 * perhaps after a resignation. A request is one candidate. After a loss it stands again, and leaves when it is elected
 * once more. A try for which it must not wait goes to the driver's own lock.
 */
final class ElectionAsLock extends DelegatingLock {
    private final ZooKeeperClient client;
    private final String path;
    private final LockOptions options;
    private final boolean resigns;
    private final Consumer<String> wrong;
    private final InterProcessLock plain;

    ElectionAsLock(ZooKeeperClient client, String path, LockOptions options, boolean resigns, Consumer<String> wrong) {
        this.client = client;
        this.path = path;
        this.options = options;
        this.resigns = resigns;
        this.wrong = wrong;
        this.plain = plain(client, path, options);
    }

    static InterProcessLock plain(ZooKeeperClient client, String path, LockOptions options) {
        return new LockInternals(client, path, new MutexDriver("latch-"), options).unowned();
    }

    @Override
    protected InterProcessLock delegate() {
        return plain;
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        Candidate candidate = new Candidate();
        candidate.election.join();
        return candidate.granted;
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
        if (timeout.isZero()) {
            return plain.tryAcquire();
        }
        Candidate candidate = new Candidate();
        candidate.election.join();
        try {
            var unused = candidate.election.awaitLeadership(timeout);
        } finally {
            candidate.granted.cancel(false); // if it has no term by now
        }
        return candidate.granted.isCompletedExceptionally() ? Optional.empty() : Optional.of(candidate.granted.join());
    }

    private final class Candidate implements LeaderListener {
        private final LeaderElection election = new LeaderElection(client, path, options);
        private final CompletableFuture<Lease> granted = new CompletableFuture<>();
        private Term last;
        private OfTerm lease;

        Candidate() {
            election.addListener(this);
            var unused = granted.whenComplete((elected, failure) -> {
                if (failure != null) {
                    leave();
                }
            });
        }

        private void leave() {
            var unused = election.leave();
        }

        @Override
        public void termBegan(Term term) {
            if (last != null) {
                wrong.accept("two terms at once: " + last + ", " + term);
            }
            last = term;
            if (lease == null) {
                lease = new OfTerm(election, term);
            } else if (term.number() <= lease.term.number()) {
                wrong.accept("numbers do not rise: " + lease.term + ", " + term);
            }
            if (!granted.complete(lease)) {
                var unused = election.leave();
            }
        }

        @Override
        public void termEnded(Term term) {
            if (term != last || term.isValid() || election.isLeader()) {
                wrong.accept("the end of " + term + " is told after " + last + ": " + election);
            }
            last = null;
            if (term == lease.term) {
                lease.ended.complete(term.state());
            }
        }

        @Override
        public void withdrawn(LockException why) {
            granted.completeExceptionally(why);
        }
    }

    /** What the explorer knows: the first term of a candidate. */
    private final class OfTerm implements Lease {
        private final LeaderElection election;
        private final Term term;
        private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();

        OfTerm(LeaderElection election, Term term) {
            this.election = election;
            this.term = term;
        }

        @Override
        public String path() {
            return plain.path();
        }

        @Override
        public long fencingToken() {
            return term.lease.fencingToken();
        }

        @Override
        public LeaseState state() {
            return term.state();
        }

        @Override
        public boolean isValid() {
            if (election.isLeader() && election.term().orElse(term) == term && !term.isValid()) {
                wrong.accept("leads without a valid term: " + term);
            }
            return term.isValid();
        }

        @Override
        public void verify() throws InterruptedException {
            term.verify();
        }

        @Override
        public boolean prolong(Duration most) {
            return term.lease.prolong(most);
        }

        @Override
        public Op guard() {
            return term.guard();
        }

        @Override
        public void onLost(Runnable listener) {
            var unused = ended.thenAccept(how -> {
                if (how == LeaseState.LOST) {
                    listener.run();
                }
            });
        }

        @Override
        public void onRevocationRequested(Consumer<RevocationRequest> listener) {
            term.lease.onRevocationRequested(listener);
        }

        @Override
        public CompletionStage<LeaseState> ended() {
            return ended;
        }

        @Override
        public void close() {
            var unused = closeAsync();
        }

        @Override
        public CompletableFuture<Void> closeAsync() {
            if (resigns) {
                var unused = election.resign(); // it stands again at once, and then
            }
            return election.leave();
        }

        @Override
        public CompletableFuture<Void> closeAfter(Duration delay) {
            throw new UnsupportedOperationException("a leader resigns or leaves at once");
        }

        @Override
        public String toString() {
            return election.toString();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import com.google.common.base.Throwables;
import com.google.common.collect.Lists;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.thread.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Calls for all leases of a lock that consists of others, perhaps of several clients. Each call first begins everything
 * that does not block, and then waits. So the waits run beside each other, and none of them ends later than the request
 * time-out of its client after the call.
 */
public final class ManyLeases {
    private ManyLeases() {}

    /**
     * Closes all leases, the last one first, even if closing one of them fails, and waits as {@link Lease#close} does.
     * Throws the first failure, to which the others are added as suppressed.
     */
    public static void close(List<? extends Lease> leases) {
        List<Runnable> blocking = new ArrayList<>();
        List<Runnable> waits = new ArrayList<>();
        Failures failures = new Failures();
        for (Lease lease : Lists.reverse(leases)) {
            if (lease instanceof Hold hold && hold.lock() instanceof OwnedLock lock && lock.worksOn != null) {
                Deadline by = lock.worksOn.requestDeadline();
                failures.of(() -> {
                    boolean closes = hold.beginClosing(false);
                    waits.add(() -> lock.confirm(hold, closes && hold.state() == LeaseState.RELEASED, by));
                });
            } else {
                blocking.add(lease::close);
            }
        }
        blocking.forEach(failures::of);
        waits.forEach(failures::of);
        failures.throwFirst();
    }

    /** Verifies all leases as {@link Lease#verify} does. Throws the failure of the first that cannot be verified. */
    public static void verify(List<? extends Lease> leases) throws InterruptedException {
        List<Verification> begun = new ArrayList<>();
        List<Lease> blocking = new ArrayList<>();
        for (Lease lease : leases) {
            if (lease instanceof Hold hold && hold.lock() instanceof EngineLock lock) {
                begun.add(new Verification(lock, hold, lock.client().requestDeadline(), lock.beginVerifying(hold)));
            } else {
                blocking.add(lease);
            }
        }
        for (Lease lease : blocking) {
            lease.verify();
        }
        for (Verification each : begun) {
            each.lock.endVerifying(each.hold, each.answered, each.by);
        }
    }

    private record Verification(EngineLock lock, Hold hold, Deadline by, CompletableFuture<Code> answered) {}

    /** Collects what is thrown by tasks of which each has to run. */
    private static final class Failures {
        private @Nullable Throwable first;

        void of(Runnable task) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                if (first == null) {
                    first = e;
                } else if (first != e) {
                    first.addSuppressed(e);
                }
            }
        }

        void throwFirst() {
            if (first != null) {
                Throwables.throwIfUnchecked(first);
            }
        }
    }
}

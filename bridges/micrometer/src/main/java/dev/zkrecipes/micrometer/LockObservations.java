// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockObserver;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.NullObservation;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Observations of the locks of one client or several, which a tracer turns into spans: {@code zkrecipes.acquire} from
 * the request to its end, and {@code zkrecipes.hold} from the grant to the release or loss. Both are children of the
 * observation that is current on the requesting thread.
 *
 * <p>Key values of low cardinality: {@code lock.name}, which the application gives by {@link
 * dev.zkrecipes.core.LockOptions#withName(String)}, or {@code none}; {@code lock.kind}; {@code lock.outcome}, with the
 * outcomes of {@link LockMetrics}. Of high cardinality: {@code lock.path}. A failed request has its error and the event
 * {@code failed}. A lost hold has a {@link LockLostException} and the event {@code lost}. A request that waits for a
 * long time has the event {@code slow}.
 *
 * <pre>{@code
 * ZooKeeperClient client =
 *         ZooKeeperClient.builder().connectString(servers).observer(new LockObservations(registry)).build();
 * }</pre>
 *
 * <p>Instances are thread-safe.
 */
public final class LockObservations implements LockObserver {
    private static final String OUTCOME = "lock.outcome";

    private final ObservationRegistry registry;

    /**
     * Creates an observer.
     *
     * @param registry the registry whose handlers receive the observations
     */
    public LockObservations(ObservationRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
    }

    @Override
    public Progress onWaiting(Request request) {
        return new Observed(request);
    }

    private final class Observed implements Progress {
        private final Request request;
        private final Thread asker = Thread.currentThread();
        private final @Nullable Observation parent;
        private final Observation acquire;
        private volatile Observation hold = Observation.NOOP;

        Observed(Request request) {
            this.request = request;
            this.parent = registry.getCurrentObservation();
            this.acquire = start("acquire");
        }

        private Observation start(String what) {
            String name = request.name().orElse("none");
            return startBelowParent(Observation.createNotStarted("zkrecipes." + what, registry)
                    .contextualName(what + " " + request.name().orElse("lock"))
                    .lowCardinalityKeyValues(KeyValues.of("lock.name", name, "lock.kind", request.kindAsWord()))
                    .highCardinalityKeyValue("lock.path", request.path())
                    .parentObservation(parent));
        }

        /**
         * Starts an observation below the requester's. An observation that is current on the thread of a callback has
         * nothing to do with the request, but a tracer would prefer it as the parent.
         */
        private Observation startBelowParent(Observation observation) {
            if (observation.isNoop() || isWhereItWasAskedFor()) {
                return observation.start();
            }
            Observation.Scope scope = (parent == null ? new NullObservation(registry) : parent).openScope();
            try {
                return observation.start();
            } finally {
                scope.close();
            }
        }

        /**
         * Whether this thread has requested the lock, and its current observation is still the same. A span that the
         * application has begun by hand is the parent then, as for any blocking call.
         */
        private boolean isWhereItWasAskedFor() {
            return Thread.currentThread() == asker && registry.getCurrentObservation() == parent;
        }

        @Override
        public void onGranted(Duration waited) {
            end(acquire, "granted");
            hold = start("hold");
        }

        @Override
        public void onAbandoned(Duration waited, Ending how) {
            end(acquire, how.name().toLowerCase(Locale.ROOT));
        }

        @Override
        public void onFailed(Duration waited, Throwable error) {
            end(acquire.event(Observation.Event.of("failed")).error(error), "failed");
        }

        @Override
        public void onSlow(Duration waited) {
            acquire.event(Observation.Event.of("slow"));
        }

        @Override
        public void onReleased(Duration held) {
            end(hold, "released");
        }

        @Override
        public void onLost(Duration held, String reason) {
            hold.event(Observation.Event.of("lost", reason)).error(new LockLostException(reason));
            end(hold, "lost");
        }

        private static void end(Observation observation, String outcome) {
            observation.lowCardinalityKeyValue(OUTCOME, outcome).stop();
        }
    }
}

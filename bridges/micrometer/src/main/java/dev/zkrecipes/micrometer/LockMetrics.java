// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Meters of the locks of one client or several:
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>Name</th><th>Type</th><th>What it measures</th></tr>
 * <tr><td>{@code zkrecipes.lock.wait}</td><td>timer</td>
 * <td>requests, by how they ended: tag {@code outcome} is {@code granted},
 *     {@code busy}, {@code timed_out}, {@code interrupted}, {@code cancelled} or {@code failed}</td></tr>
 * <tr><td>{@code zkrecipes.lock.hold}</td><td>timer</td>
 * <td>holds; tag {@code outcome} is {@code released} or {@code lost}</td></tr>
 * <tr><td>{@code zkrecipes.lock.waiting}</td><td>gauge</td><td>requests under way</td></tr>
 * <tr><td>{@code zkrecipes.lock.held}</td><td>gauge</td><td>locks held</td></tr>
 * <tr><td>{@code zkrecipes.lock.oldest.wait}</td><td>gauge</td>
 * <td>how long the oldest request has been under way; 0 if there is none</td></tr>
 * <tr><td>{@code zkrecipes.lock.oldest.hold}</td><td>gauge</td>
 * <td>how long the oldest hold has lasted; 0 if there is none</td></tr>
 * <tr><td>{@code zkrecipes.lock.timeouts}</td><td>counter</td><td>requests that timed out</td></tr>
 * <tr><td>{@code zkrecipes.lock.losses}</td><td>counter</td><td>locks lost while held</td></tr>
 * <tr><td>{@code zkrecipes.lock.revocations}</td><td>counter</td>
 * <td>requests to give a lock back that reached its holder</td></tr>
 * <tr><td>{@code zkrecipes.clients}</td><td>gauge</td>
 * <td>clients, by tag {@code state}: {@code connected}, {@code suspended} and so on</td></tr>
 * </table>
 *
 * <p>The meters of locks have two tags. The tag {@code name} is the name that the application has given the lock by
 * {@link dev.zkrecipes.core.LockOptions#withName(String)}, or {@code none}. The tag {@code kind} is a word such as
 * {@code mutex}, from {@link dev.zkrecipes.core.LockObserver.Request#kindAsWord()}. The path is not a tag, because the
 * number of paths is unlimited. After {@value #MOST} pairs of name and kind, all others are counted as {@code other}.
 *
 * <pre>{@code
 * ZooKeeperClient client = ZooKeeperClient.builder()
 *         .connectString(servers)
 *         .observer(new LockMetrics(registry))
 *         .build();
 * }</pre>
 *
 * <p>Several observers may share a registry, for example one for each client. Their meters show the sums. A meter that
 * the application removes from the registry is registered again at its next use. A meter that cannot be registered, for
 * example because the application uses its name for a meter of another type, is left out with a warning. Instances are
 * thread-safe.
 */
public final class LockMetrics implements LockObserver {
    /** The number of pairs of name and kind that have meters of their own. */
    public static final int MOST = 500;

    private final RegistryMeters meters;

    /**
     * Creates an observer. Its meters are registered when they are first needed.
     *
     * @param registry the registry for the meters
     */
    public LockMetrics(MeterRegistry registry) {
        this.meters = RegistryMeters.of(Objects.requireNonNull(registry, "registry"));
    }

    @Override
    public void onClient(Supplier<ConnectionState> connection) {
        meters.add(connection);
    }

    @Override
    public Progress onWaiting(Request request) {
        Tags tags = Tags.of("name", request.name().orElse("none"), "kind", request.kindAsWord());
        Measured begun = new Measured(meters.named(tags));
        begun.meters.beginWait(begun);
        return begun;
    }

    private static final class Measured implements Progress {
        private final NamedMeters meters;

        Measured(NamedMeters meters) {
            this.meters = meters;
        }

        @Override
        public void onGranted(Duration waited) {
            meters.beginHold(this);
            meters.endWait(this, "granted", waited);
        }

        @Override
        public void onAbandoned(Duration waited, Ending how) {
            if (how == Ending.TIMED_OUT) {
                meters.countTimeout();
            }
            meters.endWait(this, how.name().toLowerCase(Locale.ROOT), waited);
        }

        @Override
        public void onReleased(Duration held) {
            meters.endHold(this, "released", held);
        }

        @Override
        public void onLost(Duration held, String reason) {
            meters.countLoss();
            meters.endHold(this, "lost", held);
        }

        @Override
        public void onRevocationRequested() {
            meters.countRevocation();
        }
    }
}

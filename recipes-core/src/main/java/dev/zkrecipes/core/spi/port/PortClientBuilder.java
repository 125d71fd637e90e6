// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.client.JarVersions;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.PathSettings;
import dev.zkrecipes.core.internal.zk.TimeBounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.apache.zookeeper.ZooDefs;
import org.jspecify.annotations.Nullable;

/**
 * Makes a {@link ZooKeeperClient} on other implementations of the engine's two ports, such as a simulated server and
 * clock. The settings mean what they mean in {@link dev.zkrecipes.core.ZooKeeperClientBuilder}. Not thread-safe.
 */
public final class PortClientBuilder {
    private final HandleKind ports;
    private Duration sessionTimeout = Duration.ofSeconds(30);
    private @Nullable Duration requestTimeout;
    private Duration firstRetryDelay = Duration.ofMillis(20);
    private Duration longestRetryDelay = Duration.ofSeconds(1);
    private String ownerLabel = OwnerLabel.ofThisProcess();
    private @Nullable Executor callbackExecutor;
    private final List<LockObserver> observers = new ArrayList<>();

    private PortClientBuilder(HandleKind ports) {
        JarVersions.require();
        this.ports = ports;
    }

    /**
     * Begins with the default settings.
     *
     * @param factory opens one session per call
     * @param scheduler the engine's thread and clock; closed with the client
     * @return a new builder
     */
    public static PortClientBuilder on(ZooKeeperOperations.Factory factory, EngineScheduler scheduler) {
        return new PortClientBuilder(new HandleKind.Simulated(
                Objects.requireNonNull(factory, "factory"), Objects.requireNonNull(scheduler, "scheduler")));
    }

    /**
     * The session time-out that counts until a server has granted one. Default 30 seconds.
     *
     * @param timeout from 10 milliseconds to 2^31-1 milliseconds
     * @return this builder
     */
    public PortClientBuilder sessionTimeout(Duration timeout) {
        sessionTimeout = TimeBounds.session(timeout);
        return this;
    }

    /**
     * How long a call that needs one answer waits for it. Default: a third of the session time-out.
     *
     * @param timeout from 1 millisecond to 2^31-1 milliseconds
     * @return this builder
     */
    public PortClientBuilder requestTimeout(Duration timeout) {
        requestTimeout = TimeBounds.request(timeout);
        return this;
    }

    /**
     * The pace of retries. Default 20 milliseconds and 1 second.
     *
     * @param first the first delay, at least 1 millisecond
     * @param longest the longest delay, at least {@code first}
     * @return this builder
     */
    public PortClientBuilder retryDelay(Duration first, Duration longest) {
        TimeBounds.checkPace(first, longest);
        firstRetryDelay = first;
        longestRetryDelay = longest;
        return this;
    }

    /**
     * What others see as the owner of this client's nodes. Default: process id and host name.
     *
     * @param label 1 to 200 characters, no control characters
     * @return this builder
     */
    public PortClientBuilder ownerLabel(String label) {
        ownerLabel = OwnerLabel.check(label);
        return this;
    }

    /**
     * Where listeners run and futures complete, those of losses too: a simulation has no threads but its own. Default:
     * threads of the client's own.
     *
     * @param executor runs user code
     * @return this builder
     */
    public PortClientBuilder callbackExecutor(Executor executor) {
        callbackExecutor = Objects.requireNonNull(executor, "executor");
        return this;
    }

    /**
     * Tells an observer of every request for a lock of this client.
     *
     * @param observer is told
     * @return this builder
     */
    public PortClientBuilder observer(LockObserver observer) {
        observers.add(Objects.requireNonNull(observer, "observer"));
        return this;
    }

    /**
     * Makes the client and returns at once.
     *
     * @return the client; close it when done
     */
    public ZooKeeperClient build() {
        return EngineClient.start(
                ports,
                new ClientSettings(
                        sessionTimeout,
                        requestTimeout,
                        firstRetryDelay,
                        longestRetryDelay,
                        PathSettings.of(ZooDefs.Ids.OPEN_ACL_UNSAFE),
                        List.of(),
                        null,
                        ownerLabel,
                        callbackExecutor,
                        List.copyOf(observers),
                        false,
                        false));
    }
}

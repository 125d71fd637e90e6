// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.internal.client.EngineClient;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooKeeper;

/**
 * A connection to ZooKeeper on which locks are created. One client per process and ensemble is enough for all locks and
 * threads, unless so many requests hold or wait at a time that they meet a {@linkplain LockLimitException limit}.
 *
 * <p>A client created by {@link #connect} or a builder with a connect string opens its own ZooKeeper handle and, when
 * the session ends, the next one. A client that wraps a handle ends with it. A client over a supplier asks the supplier
 * for the handle of each acquire.
 *
 * <p>Instances are thread-safe. Closing a client ends every waiting acquire with {@link ClientClosedException}, makes
 * every lease LOST, deletes the nodes that the client holds and leaves no thread behind.
 */
public final class ZooKeeperClient implements AutoCloseable {
    static {
        EngineClient.reachedBy(client -> client.engine, kind -> builder().source(kind));
    }

    private final EngineClient engine;

    ZooKeeperClient(EngineClient engine) {
        this.engine = engine;
    }

    /**
     * Creates a client that opens its own sessions, with the defaults of {@link ZooKeeperClientBuilder}. Returns at
     * once and connects in the background.
     *
     * @param connectString {@code host:port[,host:port]...[/chroot]}
     * @return the client; close it when done
     * @throws IllegalArgumentException if the connect string is malformed
     */
    public static ZooKeeperClient connect(String connectString) {
        return builder().connectString(connectString).build();
    }

    /**
     * Creates a client on an existing handle of the application. The client never closes the handle. When the handle's
     * session ends, so does the client. A handle may be wrapped more than once, but one client for each handle is
     * better: if several clients share a handle that is closed, its nodes are deleted in any order. A request of one
     * client that waits behind a lease of another may then be granted for a moment, until it is told of its own end.
     *
     * @param handle an open handle, neither read-only nor with {@code zookeeper.disableAutoWatchReset}
     * @return the client; close it before the handle
     * @throws IllegalArgumentException if the handle is of a kind that locks cannot rely on
     */
    public static ZooKeeperClient wrap(ZooKeeper handle) {
        return builder().handle(handle).build();
    }

    /**
     * Creates a client on handles that other code, such as another library, opens and replaces. The supplier is called,
     * on its own thread, for each acquire and after the end of a session, and is called again while it throws an
     * exception or returns a handle that has ended. The client never closes the handles.
     *
     * @param handles returns the handle to use now
     * @return the client; close it before the handles
     */
    public static ZooKeeperClient over(Supplier<ZooKeeper> handles) {
        return builder().handles(Objects.requireNonNull(handles, "handles")).build();
    }

    /** {@return a builder of a client with other settings} */
    public static ZooKeeperClientBuilder builder() {
        return new ZooKeeperClientBuilder();
    }

    /**
     * {@return the current state of the connection to ZooKeeper, without asking the server} When the clock of this
     * process ends the leases of a session, this method returns {@link ConnectionState#EXPIRED} no later than the first
     * of them is LOST. A single lease may be lost without that, for example because somebody has deleted its node.
     */
    public ConnectionState connectionState() {
        return engine.connection().state();
    }

    /**
     * {@return why the client has no connection; empty if it has one, or the reason is not known yet} A client that
     * opens its own sessions looks for the reason after a few seconds without a connection. The message contains only
     * the reason, in words for people; every request that fails meanwhile names it, too. The exception is a
     * {@link LockAccessException} if the servers refuse the credentials or the login fails, and a
     * {@link LockConnectionException} otherwise.
     */
    public Optional<LockException> connectionTrouble() {
        return engine.connection().trouble();
    }

    /**
     * Calls {@code listener} for every change of state from now on, once and in order, on the callback executor. If a
     * listener blocks, it gets the next change when it returns; it delays no other listener.
     *
     * @param listener what to call
     */
    public void addConnectionListener(Consumer<ConnectionState> listener) {
        engine.connection().addListener(Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Removes a listener. A call that has begun continues.
     *
     * @param listener one that was added
     */
    public void removeConnectionListener(Consumer<ConnectionState> listener) {
        engine.connection().removeListener(Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Waits until the client is connected.
     *
     * @param timeout how long to wait at most
     * @return whether it is connected; false at once if the session of a handle that it wraps has ended
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws ClientClosedException if the client is closed, before or meanwhile
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public boolean awaitConnected(Duration timeout) throws InterruptedException {
        return engine.awaitConnected(timeout);
    }

    /**
     * Changes the servers to connect to, for the current session and all later ones. Only for a client that opens its
     * own sessions. Returns at once. If the client is connected to a server that is not among the new ones, it moves to
     * one of the new ones, as with {@link ZooKeeper#updateServerList}: leases stay, though they may be SUSPENDED for a
     * moment. It may also move to balance the load of the servers.
     *
     * <p>The new servers must be of the same ensemble. Another ensemble does not know the session, so every lease is
     * LOST, at once or after the session time-out, and the client opens a session there. The locks there are other
     * locks, with fencing tokens of their own: a client of the former ensemble may hold a lock of the same path.
     *
     * @param connectString {@code host:port[,host:port]...[/chroot]}, with the same chroot as before
     * @throws IllegalArgumentException if it is malformed or has another chroot; nothing has changed
     * @throws IllegalStateException if the client uses handles of the application
     * @throws ClientClosedException if the client is closed
     */
    public void updateConnectString(String connectString) {
        engine.updateConnectString(connectString);
    }

    /**
     * {@return the handle of the current session, for a {@code multi} with {@link Lease#guard()}; empty if there is
     * none now} Do not close the handle.
     */
    public Optional<ZooKeeper> zooKeeper() {
        return engine.connection().handle();
    }

    /** {@return the label that others see in {@link InterProcessLock#participants()}} */
    public String ownerLabel() {
        return engine.ownerLabel();
    }

    /**
     * Closes the client; further calls do nothing. Never throws. The steps are, in this order:
     *
     * <ol>
     *   <li>What is built on the client, such as elections, ends: a leader is told that its term is over, and its node
     *       is deleted when its work has ended. This step waits at most for
     *       {@link ZooKeeperClientBuilder#closeTimeout}, and not for work that calls this method itself.
     *   <li>Every lease is LOST and every request fails with {@link ClientClosedException}; the nodes of locks that
     *       were granted and not closed are deleted. This step waits at most for the request time-out.
     * </ol>
     *
     * <p>The sessions that the client has opened end with it, which deletes all of its nodes. A handle of the
     * application's stays open. If its nodes could not be deleted in time, for example without a connection, that is
     * logged, and they are deleted through the handle as soon as it reaches a server.
     *
     * <p>On ZooKeeper's event thread this method only begins to close the client, and does not wait.
     */
    @Override
    public void close() {
        engine.close();
    }

    @Override
    public String toString() {
        return engine.toString();
    }
}

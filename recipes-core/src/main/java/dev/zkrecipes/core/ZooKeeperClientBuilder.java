// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import com.google.common.base.Preconditions;
import com.google.common.primitives.Bytes;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.client.JarVersions;
import dev.zkrecipes.core.internal.wire.Acls;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.ConnectString;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.TlsSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link ZooKeeperClient}. Set exactly one of {@link #connectString}, {@link #handle} and {@link #handles}; a
 * second one is refused with an {@link IllegalStateException}. Everything else has a default. Every value is checked
 * when it is set: null is refused with a {@link NullPointerException}, any other bad value with an
 * {@link IllegalArgumentException}. Not thread-safe.
 */
public final class ZooKeeperClientBuilder {
    private @Nullable HandleKind handles;
    private static final Duration DEFAULT_SESSION = Duration.ofSeconds(30);

    private @Nullable Duration sessionTimeout;
    private @Nullable Duration requestTimeout;
    private Duration closeTimeout = Duration.ofSeconds(10);
    private Duration firstRetryDelay = Duration.ofMillis(20);
    private Duration longestRetryDelay = Duration.ofSeconds(1);
    private String namespace = "/";
    private Function<String, List<ACL>> aclOf = always(Acls.copy(ZooDefs.Ids.OPEN_ACL_UNSAFE));
    private final List<ClientSettings.AuthInfo> auth = new ArrayList<>();
    private @Nullable ZKClientConfig clientConfig;
    private @Nullable String ownerLabel;
    private @Nullable Executor callbackExecutor;
    private final List<LockObserver> observers = new ArrayList<>();
    private @Nullable Duration slowAfter;
    private boolean closeOnShutdown;
    private boolean persistentPaths;

    ZooKeeperClientBuilder() {
        JarVersions.require();
    }

    /**
     * Connects to these servers; the client opens its own sessions.
     *
     * @param connectString {@code host:port[,host:port]...[/chroot]}; the port may be omitted, and then is 2181. The
     *     chroot node must exist
     * @return this builder
     */
    public ZooKeeperClientBuilder connectString(String connectString) {
        return source(new HandleKind.Opened(ConnectString.parse(connectString)));
    }

    /**
     * Uses an existing handle of the application, see {@link ZooKeeperClient#wrap}.
     *
     * @param handle an open handle
     * @return this builder
     */
    public ZooKeeperClientBuilder handle(ZooKeeper handle) {
        return source(new HandleKind.Wrapped(handle));
    }

    /**
     * Uses handles that other code opens and replaces, see {@link ZooKeeperClient#over}.
     *
     * @param supplier returns the handle to use now
     * @return this builder
     */
    public ZooKeeperClientBuilder handles(Supplier<ZooKeeper> supplier) {
        return source(new HandleKind.Supplied(supplier));
    }

    /**
     * Sets the session time-out to request; the server may negotiate another one. A lock of a process that dies is free
     * after this time. Only for sessions that the client opens. Default: 30 seconds.
     *
     * @param timeout from 10 milliseconds to 2^31-1 milliseconds; most servers grant no less than 4 seconds
     * @return this builder
     */
    public ZooKeeperClientBuilder sessionTimeout(Duration timeout) {
        sessionTimeout = checked(timeout, "sessionTimeout", 10);
        return this;
    }

    /**
     * Sets how long a call that needs one answer waits for it: {@code tryAcquire()}, {@code participants()},
     * {@code verify()}, and releases. Default: a third of the negotiated session time-out.
     *
     * @param timeout from 1 millisecond to 2^31-1 milliseconds
     * @return this builder
     */
    public ZooKeeperClientBuilder requestTimeout(Duration timeout) {
        requestTimeout = checked(timeout, "requestTimeout", 1);
        return this;
    }

    /**
     * Sets how long {@link ZooKeeperClient#close()} waits at most for what is built on the client to end its work:
     * elections whose leader has to stop, jobs. Whatever is still at work then is named in a warning, and loses its
     * locks. Default: 10 seconds.
     *
     * @param timeout from 0, which waits for nothing, to 2^31-1 milliseconds
     * @return this builder
     */
    public ZooKeeperClientBuilder closeTimeout(Duration timeout) {
        closeTimeout = checked(timeout, "closeTimeout", 0);
        return this;
    }

    /**
     * Sets the pace of retries: the delay starts at {@code first}, doubles up to {@code longest}, and is shortened by a
     * random part of up to a half. The pace never limits the number of retries. Default: 20 milliseconds and 1 second.
     *
     * @param first the first delay, at least 1 millisecond
     * @param longest the longest delay, at least {@code first}
     * @return this builder
     */
    public ZooKeeperClientBuilder retryDelay(Duration first, Duration longest) {
        checked(first, "first retry delay", 1);
        checked(longest, "longest retry delay", 1);
        Preconditions.checkArgument(
                first.compareTo(longest) <= 0, "first retry delay %s is longer than the longest, %s", first, longest);
        firstRetryDelay = first;
        longestRetryDelay = longest;
        return this;
    }

    /**
     * Sets the ACL of every node that the client creates, lock nodes and their parents, unless a lock has its own
     * ({@link LockOptions#withAcl}). Default: open to everybody. Existing paths keep their rights.
     *
     * @param acl not empty; it grants somebody the rights that are needed to use a lock
     * @return this builder
     */
    public ZooKeeperClientBuilder acl(List<ACL> acl) {
        aclOf = always(Acls.check(Objects.requireNonNull(acl, "acl")));
        return this;
    }

    /**
     * Sets ACLs that differ from lock to lock, as {@link #acl(List)} does. The constructor of a lock calls the
     * function, and throws what the function throws. A semaphore calls it again for each new number of permits.
     *
     * @param aclOfPath returns the ACL for the path of a lock, which includes the {@linkplain #namespace namespace}
     * @return this builder
     */
    public ZooKeeperClientBuilder aclByPath(Function<String, List<ACL>> aclOfPath) {
        Objects.requireNonNull(aclOfPath, "aclOfPath");
        aclOf = path -> Acls.check(
                Objects.requireNonNull(aclOfPath.apply(path), () -> "no ACL was given for the lock " + path));
        return this;
    }

    /**
     * Sets a path that contains all locks of this client, for applications that share an ensemble: with the namespace
     * {@code /shop}, a mutex that is created with {@code /locks/orders} is {@code /shop/locks/orders}. Unlike a chroot
     * the namespace also works on handles that somebody else has opened, and need not exist. It applies only to the
     * paths with which locks are created: {@link InterProcessLock#path()}, guards, tokens and messages show the whole
     * path. Default: none.
     *
     * @param path an absolute path; {@code /} for none
     * @return this builder
     */
    public ZooKeeperClientBuilder namespace(String path) {
        namespace = LockPath.check(path, "namespace");
        return this;
    }

    /**
     * Adds credentials to every session that the client opens. They are never logged or printed.
     *
     * @param scheme for example {@code digest}
     * @param credentials for example the bytes of {@code user:password}
     * @return this builder
     */
    public ZooKeeperClientBuilder auth(String scheme, byte[] credentials) {
        Objects.requireNonNull(scheme, "scheme");
        Objects.requireNonNull(credentials, "credentials");
        Preconditions.checkArgument(!scheme.isBlank(), "the auth scheme is blank");
        Preconditions.checkArgument(
                !scheme.equals("digest") || Bytes.contains(credentials, (byte) ':'),
                "the credentials of the scheme digest have no colon: give the bytes of user:password");
        auth.add(new ClientSettings.AuthInfo(scheme, credentials.clone()));
        return this;
    }

    /**
     * Sets ZooKeeper's own client settings, such as TLS and SASL, for sessions that the client opens. If a SASL login
     * fails, the client does not connect: its state is {@link ConnectionState#AUTH_FAILED}, requests fail with a
     * {@link LockAccessException} that names the cause, and the client tries again after pauses of up to a minute. To
     * connect without an identity although there is a JAAS configuration, set {@code zookeeper.sasl.client=false}.
     *
     * @param config the settings; {@code zookeeper.disableAutoWatchReset} must not be set; with TLS,
     *     {@code zookeeper.clientCnxnSocket} must name a socket that supports it, and the key and trust stores must be
     *     loadable
     * @return this builder
     */
    public ZooKeeperClientBuilder clientConfig(ZKClientConfig config) {
        clientConfig = usable(Objects.requireNonNull(config, "config"));
        return this;
    }

    private static ZKClientConfig usable(ZKClientConfig config) {
        HandleKind.requireWatchReset(config);
        TlsSettings.check(config);
        return config;
    }

    /**
     * Sets what others see as the owner of this client's nodes. Default: process id and host name. Every client that
     * may read the lock nodes can see it.
     *
     * @param label 1 to 200 printable characters, not just blanks
     * @return this builder
     */
    public ZooKeeperClientBuilder ownerLabel(String label) {
        ownerLabel = OwnerLabel.check(Objects.requireNonNull(label, "label"));
        return this;
    }

    /**
     * Sets where listeners run and futures complete, except those for losses (see {@link Lease#onLost}). Default:
     * daemon threads of the client's own, up to 64, and more only while callbacks block all of them; idle threads end.
     *
     * <p>The executor must run or reject every task, and must not drop one silently; it is not shut down with the
     * client. A callback that it rejects runs on a thread of the client's own, and a warning is logged. An executor
     * with a fixed number of threads delivers nothing while all of them wait, for instance for
     * {@link Lease#closeAsync}, which the executor itself has to complete. With an executor that runs tasks in the
     * calling thread, slow listeners delay all locks of the client.
     *
     * @param executor runs user code
     * @return this builder
     */
    public ZooKeeperClientBuilder callbackExecutor(Executor executor) {
        callbackExecutor = Objects.requireNonNull(executor, "executor");
        return this;
    }

    /**
     * Adds an observer that is told of every lock request of this client, after the observers that were added before.
     * Without observers, observing costs nothing.
     *
     * @param observer the observer; see {@link LockObserver} for the threads
     * @return this builder
     */
    public ZooKeeperClientBuilder observer(LockObserver observer) {
        observers.add(Objects.requireNonNull(observer, "observer"));
        return this;
    }

    /**
     * Warns of requests that wait longer than this: in the log {@code dev.zkrecipes.locks}, once a minute for each
     * lock, with the place in the queue and the holders, which the client reads from the server. Without a connection,
     * the warning says that there is none. Observers are told once of each such request. Requests that stand by, such
     * as those of candidates for leadership, are left out, see {@link LockOptions#withStandby}. Default: no warnings,
     * at no cost.
     *
     * @param wait a positive time; the waiting time of requests is checked once a second
     * @return this builder
     */
    public ZooKeeperClientBuilder slowAfter(Duration wait) {
        Objects.requireNonNull(wait, "wait");
        Preconditions.checkArgument(!wait.isNegative() && !wait.isZero(), "slowAfter is %s, must be positive", wait);
        slowAfter = wait;
        return this;
    }

    /**
     * Closes the client when the JVM ends because of SIGTERM, Ctrl-C or {@code System.exit}, or after its last thread:
     * elections end first, then every lease is LOST, whichever thread has it, and its node is deleted, so that others
     * need not wait for the session's end. The application's own threads continue to run meanwhile: stop the work that
     * the locks protect first, or let it watch its leases. The JVM waits at most for the {@link #closeTimeout} and the
     * request time-out. Closing the client removes the hook.
     *
     * <p>Nothing runs in a process that is killed with SIGKILL or halted, or after a power failure: the locks are then
     * free when the session time-out has passed at the server.
     *
     * @return this builder
     */
    public ZooKeeperClientBuilder closeOnShutdown() {
        closeOnShutdown = true;
        return this;
    }

    /**
     * Creates the paths of locks as persistent nodes. Intended for servers without container nodes, such as some that
     * only speak ZooKeeper's protocol. Nobody removes these nodes, so delete those that are no longer used. Without
     * this setting the client creates containers, which ZooKeeper removes when they are empty. It detects, and logs,
     * that the servers do not support containers when a server says so or has cut the connection three times.
     *
     * @return this builder
     */
    public ZooKeeperClientBuilder persistentPaths() {
        persistentPaths = true;
        return this;
    }

    /**
     * Creates the client and returns at once; the client connects in the background.
     *
     * @return the client; close it when done
     * @throws IllegalArgumentException if there is no {@link #clientConfig}, and the system properties from which
     *     ZooKeeper takes its settings then are ones that it would refuse
     * @throws IllegalStateException if there is nothing to connect to; or {@link #auth}, {@link #clientConfig} or
     *     {@link #sessionTimeout} was set although the client opens no sessions; or {@link #closeOnShutdown} was set
     *     and the JVM is already shutting down
     */
    public ZooKeeperClient build() {
        HandleKind kind = handles;
        if (kind == null) {
            throw new IllegalStateException("nothing to connect to: set one of connectString, handle, handles");
        }
        Preconditions.checkState(
                kind instanceof HandleKind.Opened
                        || (auth.isEmpty()
                                && clientConfig == null
                                && (sessionTimeout == null || kind instanceof HandleKind.Simulated)),
                "auth, clientConfig and sessionTimeout apply only to sessions that the client opens: configure the"
                        + " handle instead");
        // Without a config, ZooKeeper takes its settings from system properties. They are checked, too.
        ZKClientConfig config =
                kind instanceof HandleKind.Opened && clientConfig == null ? usable(new ZKClientConfig()) : clientConfig;
        ZooKeeperClient client = new ZooKeeperClient(EngineClient.start(
                // Each client has its own copy, because the connect string may change.
                kind instanceof HandleKind.Opened servers ? new HandleKind.Opened(servers.connectString()) : kind,
                new ClientSettings(
                        sessionTimeout == null ? DEFAULT_SESSION : sessionTimeout,
                        requestTimeout,
                        closeTimeout,
                        firstRetryDelay,
                        longestRetryDelay,
                        namespace,
                        aclOf,
                        List.copyOf(auth),
                        config,
                        ownerLabel == null ? OwnerLabel.ofThisProcess() : ownerLabel,
                        callbackExecutor,
                        List.copyOf(observers),
                        slowAfter,
                        closeOnShutdown,
                        persistentPaths)));
        try {
            observers.forEach(observer -> observer.onClient(client::connectionState));
        } catch (RuntimeException | Error e) {
            client.close();
            throw e;
        }
        return client;
    }

    /** Checks the limits of a duration. With timers that elapse at once, the engine would do nothing else. */
    @CanIgnoreReturnValue
    private static Duration checked(Duration value, String name, long leastMillis) {
        Objects.requireNonNull(value, name + " is null: give a duration, or leave the setting out for its default");
        Preconditions.checkArgument(
                value.compareTo(Duration.ofMillis(leastMillis)) >= 0
                        && value.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) <= 0,
                "%s is %s, must be from %s ms to 2^31-1 ms",
                name,
                value,
                leastMillis);
        return value;
    }

    private static Function<String, List<ACL>> always(List<ACL> acl) {
        return path -> acl;
    }

    ZooKeeperClientBuilder source(HandleKind kind) {
        Preconditions.checkState(
                handles == null, "connectString, handle or handles was already set: set only one of them");
        handles = kind;
        return this;
    }
}

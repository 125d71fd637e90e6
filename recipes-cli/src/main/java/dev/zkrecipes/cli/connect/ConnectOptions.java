// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import com.google.common.net.HostAndPort;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.cli.AclParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The servers to connect to and the credentials to use. A mixin for picocli, in every sub-command that works on a
 * user's ensemble.
 *
 * <p>The command line takes precedence over the environment: {@code --connect}, then the connect string of
 * {@code --config}, then {@code ZKLOCK_CONNECT}, then the connect string of {@code ZKLOCK_CONFIG}. Credentials add up.
 *
 * <p>A command calls {@link #client()} first, which checks everything and sends nothing, and then {@link #open}.
 */
public final class ConnectOptions {
    /** How long a command tries to reach a server if nothing else limits it. */
    public static final Duration CONNECT_LIMIT = Duration.ofSeconds(15);

    private static final Duration SHORTEST_SESSION = Duration.ofMillis(100);

    private static final Pattern RIGHTS = Pattern.compile("[^:,]+:[^,]*:[cdrwa]+(,[^:,]+:[^,]*:[cdrwa]+)*");

    private static final String CONNECT = "ZKLOCK_CONNECT";
    private static final String CONFIG = "ZKLOCK_CONFIG";
    private static final String AUTH = "ZKLOCK_AUTH";
    private static final String AUTH_FILE = "ZKLOCK_AUTH_FILE";

    private final Map<String, String> environment;

    /** Null if the command line was read without picocli. */
    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    /** The connect string in use, for messages. */
    private String servers = "";

    /** The credentials, which are read only once, because their file may be a pipe. */
    private List<Credential> credentials = List.of();

    private Optional<ZKClientConfig> clientConfig = Optional.empty();

    @Option(
            names = "--connect",
            paramLabel = "HOSTS",
            description = {
                "The servers: host:port[,host:port]...[/chroot].",
                "Default: " + ClientFile.CONNECT + " in the file of --config, $" + CONNECT + ", or "
                        + ClientFile.CONNECT + " in the file of $" + CONFIG + "."
            })
    private @Nullable String connect;

    @Option(
            names = "--session-timeout",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description =
                    "How long the servers keep the locks if this process dies. The servers may grant more or less. "
                            + "Default: 30.")
    private Duration sessionTimeout = Duration.ofSeconds(30);

    @Option(
            names = "--auth",
            paramLabel = "SCHEME:ID",
            description =
                    "Credentials, such as digest:user:password; may be repeated. Everyone on this machine can read them with "
                            + "ps: prefer --auth-file or $" + AUTH + ".")
    private List<String> auth = new ArrayList<>();

    @Option(
            names = "--auth-file",
            paramLabel = "FILE",
            description = "A file with one SCHEME:ID per line; lines that begin with # are ignored. Default: $"
                    + AUTH_FILE + ".")
    private @Nullable String authFile;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A file of ZooKeeper client properties (zookeeper.*), for TLS and SASL; " + ClientFile.CONNECT
                    + " is the connect string. Default: $" + CONFIG + ".")
    private @Nullable String config;

    @Option(
            names = "--acl",
            paramLabel = "ACL",
            description = "Rights on the nodes that zklock creates: creator (only for these credentials), open, or "
                    + "SCHEME:ID:PERMS[,...] as in ZooKeeper's shell. Default: open.")
    private @Nullable String acl;

    /** Removes the options that are of no use to commands that only read and delete. */
    public static final class OfExistingNodes implements IModelTransformer {
        OfExistingNodes() {}

        @Override
        public CommandSpec transform(CommandSpec command) {
            return without(command, "--acl", "--session-timeout");
        }
    }

    /**
     * Removes options that a command gets from a mixin and has no use for.
     *
     * @param command the command
     * @param options one name of each option
     * @return the command
     */
    public static CommandSpec without(CommandSpec command, String... options) {
        for (String option : options) {
            command.remove(command.findOption(option));
        }
        return command;
    }

    /** Creates options that read the environment of this process. */
    public ConnectOptions() {
        this(System.getenv());
    }

    /**
     * Creates options that read another environment, for tests.
     *
     * @param environment the variables by name
     */
    public ConnectOptions(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * Sets an option from a name and a value that were read without picocli.
     *
     * @param option the name
     * @param value the value
     * @return whether this class has an option of that name
     */
    public boolean take(String option, String value) {
        switch (option) {
            case "--connect" -> connect = value;
            case "--session-timeout" -> sessionTimeout = new Seconds().convert(value);
            case "--auth-file" -> authFile = value;
            case "--config" -> config = value;
            case "--acl" -> acl = value;
            default -> {
                return false;
            }
        }
        return true;
    }

    /**
     * Checks the options and returns a builder of a client with their settings. Sends nothing.
     *
     * @return the builder, to which an owner label may be added
     * @throws ParameterException if an option, a variable or a file is missing or wrong, with what to do about it
     */
    public ZooKeeperClientBuilder client() {
        ZooKeeperClientBuilder builder = ZooKeeperClient.builder();
        Optional<Given> file = given(config, "--config", CONFIG);
        Optional<ClientFile> settings =
                file.map(each -> checked(each.source(), () -> ClientFile.read(path(each.value()))));
        if (settings.isPresent() && settings.get().hasSecrets()) {
            warnOfReaders(path(file.orElseThrow().value()));
        }
        Given hosts = hosts(settings, file.map(Given::source).orElse(""));
        servers = hosts.value();
        checked(hosts.source(), () -> builder.connectString(hosts.value()));
        clientConfig = settings.map(ClientFile::apply);
        clientConfig.ifPresent(read -> checked(
                file.map(each -> each.source() + " " + each.value()).orElse(""), () -> builder.clientConfig(read)));
        if (sessionTimeout.compareTo(SHORTEST_SESSION) < 0) {
            throw wrong("--session-timeout is " + Seconds.show(sessionTimeout) + ", must be "
                    + Seconds.show(SHORTEST_SESSION) + " or more: a shorter session ends before a server is reached");
        }
        checked("--session-timeout", () -> builder.sessionTimeout(sessionTimeout));
        credentials = readCredentials();
        credentials.forEach(credential -> checked("the credentials", () -> credential.addTo(builder)));
        if ("creator".equalsIgnoreCase(acl) && credentials.isEmpty() && settings.isEmpty()) {
            throw wrong("--acl creator needs credentials: add --auth-file, $" + AUTH + " or --config");
        }
        checked("--acl", () -> builder.acl(rights()));
        return builder;
    }

    /**
     * The rights on nodes that a command creates by itself. The nodes of locks get these rights from the client.
     *
     * @return the rights of {@code --acl}; open by default
     * @throws ParameterException if {@code --acl} is malformed
     */
    public List<ACL> acl() {
        return checked("--acl", this::rights);
    }

    /**
     * Reads rights in the notation of ZooKeeper's own shell. The shell's parser leaves out what it does not
     * understand, so the form is checked first: a typing error must not change who has access.
     */
    private List<ACL> rights() {
        String text = acl == null ? "open" : acl;
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "open" -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
            case "creator" -> ZooDefs.Ids.CREATOR_ALL_ACL;
            default -> {
                if (!RIGHTS.matcher(text).matches()) {
                    throw new IllegalArgumentException("'" + text + "' is not SCHEME:ID:PERMS, with letters of cdrwa;"
                            + " give creator, open, or entries such as digest:user:HASH:cdrwa");
                }
                yield AclParser.parse(text);
            }
        };
    }

    /**
     * Checks the options and opens a client that is closed with the JVM. For commands that have nothing else to set.
     *
     * @return the connected client; close it when done
     * @throws ParameterException if an option, a variable or a file is missing or wrong; nothing was sent
     * @throws LockConnectionException if no server answered within {@link #CONNECT_LIMIT}
     * @throws LockAccessException if ZooKeeper does not accept the credentials
     * @throws InterruptedException if the thread is interrupted meanwhile; the client is closed
     */
    public ZooKeeperClient open() throws InterruptedException {
        return open(client().closeOnShutdown(), CONNECT_LIMIT);
    }

    /**
     * Opens the client and waits until a server has answered it.
     *
     * @param builder the builder that {@link #client} returned
     * @param limit how long to try
     * @return the connected client; close it when done
     * @throws LockConnectionException if no server answered in time
     * @throws LockAccessException if ZooKeeper does not accept the credentials
     * @throws InterruptedException if the thread is interrupted meanwhile; the client is closed
     */
    public ZooKeeperClient open(ZooKeeperClientBuilder builder, Duration limit) throws InterruptedException {
        return new Opening(builder, servers, limit).client();
    }

    /**
     * The error for credentials that ZooKeeper does not accept.
     *
     * @return the error to throw
     */
    public static LockAccessException refused() {
        return new LockAccessException("ZooKeeper refused the credentials, or requires some that were not given"
                + " (sessionRequireClientSASLAuth, or enforce.auth.enabled with enforce.auth.schemes, on the"
                + " servers): check --auth-file, --auth, and the SASL settings in --config");
    }

    /**
     * The servers in use, after a call of {@link #client}.
     *
     * @return the connect string
     */
    public String servers() {
        return servers;
    }

    /**
     * The settings of ZooKeeper's client, after a call of {@link #client}.
     *
     * @return the settings in the file of {@code --config}; empty if there is no such file
     */
    public Optional<ZKClientConfig> clientConfig() {
        return clientConfig;
    }

    /**
     * The session time-out to request from the servers.
     *
     * @return the value of {@code --session-timeout}, or its default
     */
    public Duration sessionTimeout() {
        return sessionTimeout;
    }

    /**
     * Opens a handle of ZooKeeper's own to one address, after a call of {@link #client}.
     *
     * @param address the server
     * @param watcher called with each change of the connection's state
     * @return the handle; close it when done
     */
    public ZooKeeper handle(InetSocketAddress address, Watcher watcher) {
        try {
            ZKClientConfig settings = clientConfig.orElseGet(ZKClientConfig::new);
            // By default a read waits for ever for a server that is stuck.
            if (settings.getProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT) == null) {
                settings.setProperty(
                        ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, String.valueOf(CONNECT_LIMIT.toMillis()));
            }
            String hosts = HostAndPort.fromParts(address.getHostString(), address.getPort())
                    .toString();
            ZooKeeper zk = new ZooKeeper(
                    hosts, (int) sessionTimeout.toMillis(), watcher, false, new OneAddress(address), settings);
            credentials.forEach(credential -> credential.addTo(zk));
            return zk;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Picks the connect string. The order of the sources is that in the comment of this class. */
    private Given hosts(Optional<ClientFile> settings, String file) {
        Optional<Given> inFile = settings.flatMap(ClientFile::connectString)
                .map(hosts -> new Given(hosts, file + ": " + ClientFile.CONNECT));
        Optional<Given> inEnvironment = given(CONNECT);
        return Optional.ofNullable(connect)
                .map(hosts -> new Given(hosts, "--connect"))
                .or(() -> config == null ? inEnvironment : inFile)
                .or(() -> config == null ? inFile : inEnvironment)
                .orElseThrow(() -> wrong("no server is named: give --connect host:port[,host:port]..., or set $"
                        + CONNECT + ", or " + ClientFile.CONNECT + " in the file of --config"));
    }

    private List<Credential> readCredentials() {
        List<Credential> all = new ArrayList<>();
        for (String each : auth) {
            all.add(checked("--auth", () -> Credential.parse(each, "SCHEME:ID is malformed")));
        }
        given(authFile, "--auth-file", AUTH_FILE).ifPresent(file -> {
            all.addAll(checked(file.source(), () -> Credential.read(path(file.value()), "the file")));
            warnOfReaders(path(file.value()));
        });
        given(AUTH)
                .ifPresent(lines -> all.addAll(checked(
                        lines.source(),
                        () -> Credential.parseLines(lines.value().lines().toList(), "its value"))));
        return all;
    }

    private void warnOfReaders(Path file) {
        try {
            if (Files.isRegularFile(file)
                    && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
                PrintWriter err = spec == null
                        ? new PrintWriter(System.err, true, Charset.defaultCharset())
                        : spec.commandLine().getErr();
                err.println(PlainText.of("zklock: warning: everybody on this machine can read the credentials in "
                        + file + "; chmod o-r it"));
            }
        } catch (IOException | UnsupportedOperationException e) {
            // The file system has no such modes, or the file has gone: there is nothing to warn of.
        }
    }

    private static Path path(String name) {
        if (name.isBlank()) {
            throw new IllegalArgumentException("the name of the file is empty");
        }
        return Path.of(name);
    }

    private Optional<Given> given(@Nullable String value, String option, String variable) {
        return Optional.ofNullable(value).map(each -> new Given(each, option)).or(() -> given(variable));
    }

    private Optional<Given> given(String variable) {
        return variable(variable).map(value -> new Given(value, "$" + variable));
    }

    /**
     * Reads an environment variable.
     *
     * @param name the name of the variable
     * @return its value; empty if it is not set or blank
     */
    public Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }

    /** Turns an invalid value into an error that names the value's source. */
    private <T> T checked(String source, Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalArgumentException e) {
            throw wrong(source + ": " + e.getMessage());
        }
    }

    private ParameterException wrong(String message) {
        return Mistake.of(spec, message);
    }

    /** A value, and the option, variable or file that it came from. */
    private record Given(String value, String source) {}
}

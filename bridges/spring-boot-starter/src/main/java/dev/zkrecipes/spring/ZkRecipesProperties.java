// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.support.EncodedResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.util.Assert;

/**
 * The settings of the client. Secrets are kept in files, which are named here. An unknown property makes the start
 * fail.
 *
 * @param enabled Whether the client and the locks exist.
 * @param ifDisabled What calls of @WithLock methods do if enabled is false: fail (refuse) or run without locks (run).
 * @param connectString The servers: host:port[,host:port]...[/chroot].
 * @param sessionTimeout How long the servers keep the locks of a process that has died.
 * @param closeTimeout How long the end of the application waits for annotated methods, jobs and elections.
 * @param namespace A path below which all locks of this application are created.
 * @param label What others see as the owner of this application's locks; by default the process id and the host.
 * @param authFile A file of credentials, SCHEME:ID per line, such as digest:user:password.
 * @param acl Who may use the locks: anybody (open), or only clients with the same credentials (creator).
 * @param clientConfig A properties file of ZooKeeper's client (zookeeper.*), for TLS and SASL.
 * @param ssl TLS to the servers.
 * @param waitAtMost How long methods with @WithLock wait for their lock if they do not specify a time.
 * @param slowAfter How long a request may wait before it is logged as slow; by default, none is logged.
 * @param observers which observers are notified of requests for locks
 * @param elections The elections in which the application stands, by their names.
 */
@ConfigurationProperties(prefix = "zkrecipes", ignoreUnknownFields = false)
record ZkRecipesProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("refuse") AnnotatedCalls.IfDisabled ifDisabled,
        @Nullable String connectString,
        @DefaultValue("30s") Duration sessionTimeout,
        @DefaultValue("10s") Duration closeTimeout,
        @DefaultValue("/") String namespace,
        @Nullable String label,
        @Nullable Path authFile,
        @DefaultValue("open") Rights acl,
        @Nullable Path clientConfig,
        @DefaultValue Ssl ssl,
        @DefaultValue("10s") Duration waitAtMost,
        @Nullable Duration slowAfter,
        @DefaultValue Observers observers,
        @DefaultValue Map<String, Election> elections) {

    /** Who may use the locks. */
    enum Rights {
        /** Anybody. */
        OPEN,
        /** Only clients with the credentials with which the path was created. */
        CREATOR
    }

    /**
     * TLS to the servers.
     *
     * @param bundle The SSL bundle with the keys of the client and the certificates that it trusts.
     */
    record Ssl(@Nullable String bundle) {}

    /**
     * An election in which the application stands.
     *
     * @param path The path of the election.
     */
    record Election(@Nullable String path) {}

    /**
     * Which observers are notified of requests for locks.
     *
     * @param metrics Whether locks have meters in the MeterRegistry.
     * @param observations Whether locks are observed in the ObservationRegistry, for traces.
     * @param jfr Whether locks write events for Flight Recorder.
     */
    record Observers(
            @DefaultValue("true") boolean metrics,
            @DefaultValue("false") boolean observations,
            @DefaultValue("false") boolean jfr) {}

    String requireConnectString() {
        return require("connect-string", connectString, "it names the servers: zk1:2181,zk2:2181,zk3:2181");
    }

    /**
     * Applies the properties to a builder. If a value is wrong, throws an exception that Boot explains with the name
     * and the origin of the property.
     */
    void set(ZooKeeperClientBuilder builder, String servers, boolean isCustomized) {
        check("connect-string", servers, builder::connectString);
        check("session-timeout", sessionTimeout, builder::sessionTimeout);
        check("close-timeout", closeTimeout, builder::closeTimeout);
        check("namespace", namespace, builder::namespace);
        check("label", label, builder::ownerLabel);
        check("slow-after", slowAfter, builder::slowAfter);
        check("auth-file", authFile, file -> addCredentials(file, builder));
        check("acl", acl, rights -> {
            if (rights == Rights.CREATOR) {
                boolean mayHaveCredentials =
                        authFile != null || clientConfig != null || ssl.bundle != null || isCustomized;
                Assert.isTrue(mayHaveCredentials, "a creator has credentials: set zkrecipes.auth-file, for example");
                builder.acl(ZooDefs.Ids.CREATOR_ALL_ACL);
            }
        });
    }

    /** Applies ZooKeeper's own settings, which come from a file and from an SSL bundle. */
    void setConfig(ZooKeeperClientBuilder builder, SslBundles bundles, FirstAndLast last) {
        ZKClientConfig config = new ZKClientConfig();
        check("client-config", clientConfig, file -> {
            read(file, config);
            builder.clientConfig(config);
        });
        check("ssl.bundle", ssl.bundle, bundle -> {
            TlsFiles.configure(config, bundles, bundle, last);
            builder.clientConfig(config);
        });
    }

    /** Returns the value of a required property. Throws if it is missing or blank. */
    static String require(String name, @Nullable String value, String what) {
        if (value == null || value.isBlank()) {
            throw new InvalidConfigurationPropertyValueException("zkrecipes." + name, null, what + ", and is not set");
        }
        return value;
    }

    /**
     * Passes the value of a property to a setter, if there is a value. Throws an exception that names the property if
     * the setter fails.
     */
    static <T> void check(String name, @Nullable T value, Setter<T> setter) {
        try {
            if (value != null) {
                setter.set(value);
            }
        } catch (IllegalArgumentException | IllegalStateException | NoSuchSslBundleException e) {
            throw new InvalidConfigurationPropertyValueException("zkrecipes." + name, value, e.getMessage());
        } catch (IOException | GeneralSecurityException e) {
            throw new InvalidConfigurationPropertyValueException("zkrecipes." + name, value, e.toString());
        }
    }

    interface Setter<T> {
        void set(T value) throws IOException, GeneralSecurityException;
    }

    /**
     * Adds the credentials of a file, which has the format of zklock's --auth-file. Messages never show its content.
     */
    private static void addCredentials(Path file, ZooKeeperClientBuilder builder) throws IOException {
        List<String> lines = Files.readAllLines(file).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
        for (String line : lines) {
            int colon = line.indexOf(':');
            if (colon < 1 || colon == line.length() - 1 || line.startsWith("\uFEFF")) {
                throw new IllegalArgumentException(
                        "the file has a line that is not SCHEME:ID, or begins with a byte-order mark");
            }
            builder.auth(line.substring(0, colon), line.substring(colon + 1).getBytes(StandardCharsets.UTF_8));
        }
        if (lines.isEmpty()) {
            throw new IllegalArgumentException("the file has no credentials: give one SCHEME:ID per line");
        }
    }

    private void read(Path file, ZKClientConfig config) throws IOException {
        PropertiesLoaderUtils.loadProperties(new EncodedResource(new FileSystemResource(file), StandardCharsets.UTF_8))
                .forEach((name, value) -> {
                    Assert.isTrue(
                            ssl.bundle == null || !TlsFiles.sets(name.toString()),
                            () -> "the file sets " + name
                                    + ", and so does zkrecipes.ssl.bundle: leave one of them out");
                    config.setProperty(name.toString(), value.toString());
                });
    }
}

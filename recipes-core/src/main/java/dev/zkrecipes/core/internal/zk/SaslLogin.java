// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Throwables;
import com.google.common.net.HostAndPort;
import dev.zkrecipes.core.internal.wire.Printable;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.security.auth.Subject;
import javax.security.auth.kerberos.KerberosPrincipal;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.client.ZooKeeperSaslClient;
import org.ietf.jgss.GSSContext;
import org.ietf.jgss.GSSException;
import org.ietf.jgss.GSSManager;
import org.ietf.jgss.GSSName;
import org.ietf.jgss.Oid;
import org.jspecify.annotations.Nullable;

/**
 * Tries the SASL login of a client in advance. ZooKeeper's client only logs the failure of a login and then connects
 * without an identity: the nodes that it creates may be open to the world. So before a handle is opened, the login must
 * succeed here. With Kerberos, the KDC must also know one of the servers. {@link HandleStates} makes sure that a
 * connection is not used before its own login has succeeded.
 *
 * <p>The methods that log in block and must not run on the engine thread.
 */
public final class SaslLogin {
    private static final String KERBEROS = "1.2.840.113554.1.2.2"; // the object identifier of its GSS-API mechanism

    private static final String SECTION = ZKClientConfig.LOGIN_CONTEXT_NAME_KEY;
    private static final String ANONYMOUS = "; to connect as nobody, set " + ZKClientConfig.ENABLE_CLIENT_SASL_KEY
            + "=false in the clientConfig or as a system property";

    private final ZKClientConfig config;
    private final List<HostAndPort> servers;
    private final String section; // of the JAAS configuration

    public SaslLogin(@Nullable ZKClientConfig config, List<HostAndPort> servers) {
        this.config = config == null ? new ZKClientConfig() : config;
        this.servers = servers;
        this.section = this.config.getProperty(SECTION, ZKClientConfig.LOGIN_CONTEXT_NAME_KEY_DEFAULT);
    }

    /** Whether the user requests a login, that is, has set anything that has a meaning only with one. */
    public boolean isWanted() {
        return config.isSaslClientEnabled()
                && (config.getJaasConfKey() != null
                        || Stream.of(
                                        SECTION,
                                        ZKClientConfig.ENABLE_CLIENT_SASL_KEY,
                                        ZKClientConfig.ZK_SASL_CLIENT_USERNAME,
                                        ZKClientConfig.ZOOKEEPER_SERVER_PRINCIPAL)
                                .anyMatch(key -> config.getProperty(key) != null)
                        || hasSection());
    }

    /** Whether a connected handle of the application should have an identity according to its settings but has none. */
    static boolean isMissing(ZooKeeper handle) {
        ZooKeeperSaslClient login = handle.getSaslClient();
        return (login == null || login.isFailed()) && new SaslLogin(handle.getClientConfig(), List.of()).isWanted();
    }

    private boolean hasSection() {
        try {
            return entries() != null;
        } catch (RuntimeException e) { // there is no configuration, or none that can be read
            return false;
        } catch (Error e) { // there is one, of foreign code that is broken: the login will tell the reason
            return true;
        }
    }

    private AppConfigurationEntry @Nullable [] entries() {
        return Configuration.getConfiguration().getAppConfigurationEntry(section);
    }

    /**
     * Logs in and out again. Returns the obstacle if that fails, otherwise empty. Blocks for as long as the login
     * modules do, which may be minutes.
     */
    public Optional<Obstacle> trouble() {
        AppConfigurationEntry[] entries;
        try {
            entries = entries();
        } catch (RuntimeException | Error e) { // there is no configuration, or none that can be read
            return failed("the JAAS configuration" + file() + " cannot be read: " + TlsSettings.reason(e), e);
        }
        if (entries == null) {
            return failed(
                    "the JAAS configuration" + file() + " has no section '" + Printable.of(section)
                            + "': add it, or name" + " another by " + SECTION,
                    null);
        }
        try {
            // A login module that requests a name or a password gets no answer, as with ZooKeeper's client: there is no
            // user to type it.
            LoginContext context = new LoginContext(section, callbacks -> {});
            context.login();
            try {
                return serviceTrouble(context.getSubject());
            } finally {
                context.logout();
            }
        } catch (Throwable e) { // modules are foreign code, and whoever waits for the login has to hear of its end
            return failed(explain(e, entries), e);
        }
    }

    private String file() {
        String file = config.getJaasConfKey();
        return file == null ? "" : " " + Printable.of(file);
    }

    /**
     * Returns the reason of a failed login, followed by what to check. If a keytab cannot be read, the advice names it.
     */
    private String explain(Throwable failure, AppConfigurationEntry[] entries) {
        String advice = Stream.of(entries)
                .flatMap(entry -> Stream.ofNullable(entry.getOptions().get("keyTab")))
                .map(keytab -> String.valueOf(keytab).replaceFirst("^(file|FILE):", ""))
                .filter(keytab -> !new File(keytab).canRead())
                .map(keytab -> "the keytab " + Printable.of(keytab) + " does not exist or cannot be read")
                .findFirst()
                .orElse(
                        Throwables.getRootCause(failure) instanceof IOException
                                ? "no KDC answers: check that one runs, and the kdc of the realm in krb5.conf"
                                : "check the section '" + Printable.of(section) + "' of the JAAS configuration"
                                        + file());
        return TlsSettings.reason(failure) + "; " + advice;
    }

    private static Optional<Obstacle> failed(String why, @Nullable Throwable cause) {
        return Optional.of(Obstacle.ofIdentity("the SASL login failed: " + why + ANONYMOUS, cause));
    }

    /**
     * Requests a ticket for each server from the KDC, and returns empty as soon as the KDC issues one. It is no
     * obstacle if the KDC knows only some of the servers, because the client may connect to those.
     */
    private Optional<Obstacle> serviceTrouble(Subject user) {
        Optional<Obstacle> last = Optional.empty();
        if (user.getPrincipals(KerberosPrincipal.class).isEmpty()) {
            return last;
        }
        for (HostAndPort server : servers) {
            String principal;
            try {
                principal = principal(server);
            } catch (UnknownHostException e) {
                continue; // the connection to this server will fail as well, and the diagnosis of that names the reason
            }
            try {
                askForTicket(user, principal);
                return Optional.empty();
            } catch (GSSException e) {
                last = failed(
                        "there is no ticket for the server " + Printable.of(principal) + ": "
                                + TlsSettings.reason(e) + "; the principal of a server is zookeeper/HOST, unless "
                                + ZKClientConfig.ZK_SASL_CLIENT_USERNAME + " or "
                                + ZKClientConfig.ZOOKEEPER_SERVER_PRINCIPAL
                                + " says otherwise, and HOST is what the name service calls its address",
                        e);
            }
        }
        return last;
    }

    /** Returns the Kerberos principal of a server, composed as ZooKeeper's client does. */
    private String principal(HostAndPort server) throws UnknownHostException {
        String given = config.getProperty(ZKClientConfig.ZOOKEEPER_SERVER_PRINCIPAL);
        if (given != null) {
            return given;
        }
        String host = server.getHost();
        if (Boolean.parseBoolean(config.getProperty(
                ZKClientConfig.ZK_SASL_CLIENT_CANONICALIZE_HOSTNAME,
                ZKClientConfig.ZK_SASL_CLIENT_CANONICALIZE_HOSTNAME_DEFAULT))) {
            InetAddress address = InetAddress.getByName(host);
            String canonical = address.getCanonicalHostName();
            host = canonical.equals(address.getHostAddress()) ? host : canonical;
        }
        return config.getProperty(
                        ZKClientConfig.ZK_SASL_CLIENT_USERNAME, ZKClientConfig.ZK_SASL_CLIENT_USERNAME_DEFAULT)
                + "/" + host;
    }

    @SuppressWarnings("removal") // its successor was added in JDK 18
    private static void askForTicket(Subject user, String principal) throws GSSException {
        PrivilegedExceptionAction<byte[]> ask = () -> {
            GSSManager manager = GSSManager.getInstance();
            Oid kerberos = new Oid(KERBEROS);
            String service = principal.replaceFirst("@.*", "").replaceFirst("/", "@");
            GSSContext context = manager.createContext(
                    manager.createName(service, GSSName.NT_HOSTBASED_SERVICE, kerberos),
                    kerberos,
                    null,
                    GSSContext.DEFAULT_LIFETIME);
            try {
                return context.initSecContext(new byte[0], 0, 0);
            } finally {
                context.dispose();
            }
        };
        try {
            Subject.doAs(user, ask);
        } catch (PrivilegedActionException e) {
            Throwables.throwIfInstanceOf(e.getException(), GSSException.class);
            throw new IllegalStateException(e.getException());
        }
    }
}

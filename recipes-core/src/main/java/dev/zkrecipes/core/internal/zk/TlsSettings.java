// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Preconditions;
import com.google.common.base.Throwables;
import dev.zkrecipes.core.internal.wire.Printable;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;

/**
 * Reads the TLS settings of a ZooKeeper configuration, and explains what is wrong with them. ZooKeeper's client only
 * logs a TLS failure and keeps trying, so the application would merely see that it never gets a connection.
 */
public final class TlsSettings {
    private static final String NETTY = "ClientCnxnSocketNetty";

    private TlsSettings() {}

    public static boolean isOn(ZKClientConfig config) {
        return config.getBoolean(ZKClientConfig.SECURE_CLIENT);
    }

    /**
     * Throws an IllegalArgumentException for settings that cannot work with any server: the connection would not be
     * encrypted, or a key store or trust store cannot be loaded.
     */
    public static void check(ZKClientConfig config) {
        if (!isOn(config)) {
            return;
        }
        String socket = config.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "");
        Preconditions.checkArgument(
                socket.endsWith(NETTY),
                "%s is set, but %s is \"%s\", which does not speak TLS: set it to org.apache.zookeeper.%s",
                ZKClientConfig.SECURE_CLIENT,
                ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
                Printable.of(socket),
                NETTY);
        try (ClientX509Util util = new ClientX509Util()) {
            var unused = util.createSSLContext(config);
        } catch (SSLContextException e) {
            throw new IllegalArgumentException(
                    "the TLS settings cannot be used: " + reason(e)
                            + "; check the locations, types and passwords of the"
                            + " key store and the trust store (zookeeper.ssl.keyStore.*, zookeeper.ssl.trustStore.*)",
                    e);
        }
    }

    /**
     * Returns the message of an error, followed by its root cause unless the message contains that already. Often only
     * the root cause names the missing file.
     */
    public static String reason(Throwable error) {
        Throwable root = Throwables.getRootCause(error);
        String message = String.valueOf(error.getMessage());
        boolean complete = root == error || message.contains(String.valueOf(root.getMessage()));
        return Printable.of(complete ? message : message + " (" + root + ")");
    }
}

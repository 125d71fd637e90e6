// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/** A KDC on a port that stays the same, which may be up or down. Its keytabs are good for each start of it. */
final class Kdc {
    static final String REALM = "EXAMPLE.COM";

    private final Path folder;
    private final int port;
    private final List<String> principals;
    private SimpleKdcServer running;

    private Kdc(Path folder, int port, List<String> principals) {
        this.folder = folder;
        this.port = port;
        this.principals = principals;
    }

    /** Makes keytabs and a configuration in the folder; the KDC is down. */
    static Kdc make(Path folder, String... principals) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Kdc kdc = new Kdc(folder, port, List.of(principals));
        SimpleKdcServer first = kdc.prepared();
        for (String principal : principals) {
            first.exportPrincipal(principal, kdc.keytab(principal).toFile());
        }
        Files.writeString(kdc.config(), """
                [libdefaults]
                  default_realm = %s
                  udp_preference_limit = 1
                  dns_lookup_kdc = false
                  dns_lookup_realm = false
                  max_retries = 1
                [realms]
                  %s = {
                    kdc = 127.0.0.1:%d
                  }
                """.formatted(REALM, REALM, port));
        return kdc;
    }

    Path keytab(String principal) {
        return folder.resolve(principal.replace('/', '-') + ".keytab");
    }

    /** For clients and servers; the KDC has one of its own, which goes when it stops. */
    Path config() {
        return folder.resolve("ours.conf");
    }

    int port() {
        return port;
    }

    private SimpleKdcServer prepared() throws Exception {
        SimpleKdcServer server = new SimpleKdcServer();
        server.setWorkDir(folder.toFile());
        server.setKdcHost("127.0.0.1");
        server.setKdcRealm(REALM);
        server.setAllowUdp(false);
        server.setKdcTcpPort(port);
        server.init();
        for (String principal : principals) {
            server.createPrincipal(principal, "password of " + principal);
        }
        return server;
    }

    void start() throws Exception {
        String config = System.getProperty("java.security.krb5.conf");
        running = prepared();
        running.start();
        if (config != null) {
            System.setProperty("java.security.krb5.conf", config); // which it has replaced by one of its own
        }
    }

    void stop() throws Exception {
        if (running != null) {
            running.stop();
            running = null;
        }
    }
}

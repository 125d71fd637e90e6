// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.StackWalker.Option;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asks a server that the test plays. */
@Timeout(600)
class ServerProbeTest {
    private static final byte[] REFUSAL = {0x15, 3, 3, 0, 2, 2, 46}; // an alert of TLS: certificate_unknown

    /** The connection is broken before the handshake begins, so its first write fails. The alert was sent before. */
    @Test
    @Tag("H142")
    void alertOfAServerThatHasGone_isRead() throws IOException, InterruptedException {
        try (ServerSocket refusing = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
            Thread plain = new Thread(() -> end(refusing, new byte[0]), "asked-without-tls");
            plain.start();
            ZKClientConfig tls = new ZKClientConfig() {
                @Override
                public boolean getBoolean(String key, boolean otherwise) {
                    // Others ask this, too, before there is a connection. The probe asks when it has one.
                    Class<?> caller = StackWalker.getInstance(Option.RETAIN_CLASS_REFERENCE)
                            .getCallerClass();
                    if (caller == ServerProbe.class) {
                        Uninterruptibles.joinUninterruptibly(plain); // which takes the first connection, however late
                        end(refusing, REFUSAL);
                    }
                    return super.getBoolean(key, otherwise);
                }
            };
            tls.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            ServerProbe.Finding found = new ServerProbe(tls)
                    .look(new ServerProbe.Server((InetSocketAddress) refusing.getLocalSocketAddress(), "zk1:2281"));
            plain.join();
            assertThat(found.text())
                    .startsWith("zk1:2281: the TLS handshake failed: ")
                    .contains("certificate_unknown");
        }
    }

    /** Takes the next connection, and breaks it after these bytes. */
    private static void end(ServerSocket server, byte[] last) {
        try (Socket asked = server.accept()) {
            asked.getOutputStream().write(last);
            asked.setSoLinger(true, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoopbackPortTest {
    @Test
    void reservedPort_isRefused_andNotTakenByOthers() throws IOException {
        try (LoopbackPort port = LoopbackPort.reserve();
                Socket client = new Socket();
                ServerSocket thief = new ServerSocket()) {
            assertThatThrownBy(() -> client.connect(addressOf(port), 2_000)).isInstanceOf(ConnectException.class);
            thief.setReuseAddress(false);
            assertThatThrownBy(() -> thief.bind(addressOf(port))).isInstanceOf(BindException.class);
        }
    }

    @Test
    void owner_listensAndStopsRepeatedly() throws IOException {
        try (LoopbackPort port = LoopbackPort.reserve()) {
            for (int round = 0; round < 5; round++) {
                try (ServerSocket listener = port.listen(LoopbackPortTest::listenOn);
                        Socket client = new Socket()) {
                    client.connect(addressOf(port), 2_000);
                    listener.accept().close();
                }
                port.hold();
            }
        }
    }

    /** As a process that was started just before it was closed has it. */
    @Test
    void listenerThatIsClosedALittleLater_isWaitedFor() throws IOException {
        AtomicInteger tries = new AtomicInteger();
        try (LoopbackPort port = LoopbackPort.reserve();
                ServerSocket before = port.listen(LoopbackPortTest::listenOn)) {
            try (ServerSocket listener = port.listen(address -> {
                if (tries.incrementAndGet() == 5) {
                    before.close();
                }
                return listenOn(address);
            })) {
                assertThat(listener.getLocalPort()).isEqualTo(port.number());
            }
            assertThat(tries).hasValue(5);
        }
    }

    @Test
    void portHeldExclusively_isReleasedWhileListening() throws IOException {
        AtomicInteger tries = new AtomicInteger();
        try (LoopbackPort port = LoopbackPort.reserve()) {
            try (ServerSocket listener = port.listen(address -> {
                if (tries.incrementAndGet() == 1) {
                    throw new BindException("as on other systems");
                }
                ServerSocket strict = new ServerSocket();
                strict.setReuseAddress(false);
                strict.bind(address);
                return strict;
            })) {
                assertThat(listener.getLocalPort()).isEqualTo(port.number());
            }
            port.hold();
            assertThat(tries).hasValue(2);
            try (ServerSocket thief = new ServerSocket()) {
                thief.setReuseAddress(false);
                assertThatThrownBy(() -> thief.bind(addressOf(port))).isInstanceOf(BindException.class);
            }
        }
    }

    @Test
    void closedPort_isFree() throws IOException {
        LoopbackPort port = LoopbackPort.reserve();
        port.close();
        try (ServerSocket other = new ServerSocket()) {
            other.setReuseAddress(false);
            other.bind(addressOf(port));
            assertThat(other.getLocalPort()).isEqualTo(port.number());
        }
    }

    private static InetSocketAddress addressOf(LoopbackPort port) {
        return new InetSocketAddress(LoopbackPort.loopback(), port.number());
    }

    private static ServerSocket listenOn(InetSocketAddress address) throws IOException {
        ServerSocket listener = new ServerSocket();
        listener.setReuseAddress(true);
        listener.bind(address);
        return listener;
    }
}

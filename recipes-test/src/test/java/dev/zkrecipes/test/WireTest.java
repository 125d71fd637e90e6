// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class WireTest {
    private static final int A_WHILE_MILLIS = 100;
    private static final int LIMIT_MILLIS = 10_000;

    private ServerSocket target;
    private FaultProxy wire;

    @BeforeEach
    void open() throws IOException {
        target = LoopbackPort.listenOn(new InetSocketAddress(LoopbackPort.loopback(), 0));
        wire = FaultProxy.wire(target.getLocalPort());
    }

    @AfterEach
    void close() throws IOException {
        wire.close();
        target.close();
    }

    private Socket connect() throws IOException {
        return new Socket(LoopbackPort.loopback(), wire.port());
    }

    /** Returns -1 at the end, -2 if nothing comes. */
    private static int read(Socket socket, int limitMillis) throws IOException {
        socket.setSoTimeout(limitMillis);
        try {
            return socket.getInputStream().read();
        } catch (SocketTimeoutException e) {
            return -2;
        }
    }

    @Test
    void bytes_passBothWays() throws IOException {
        try (Socket client = connect();
                Socket server = target.accept()) {
            client.getOutputStream().write(1);
            assertThat(read(server, LIMIT_MILLIS)).isEqualTo(1);
            server.getOutputStream().write(2);
            assertThat(read(client, LIMIT_MILLIS)).isEqualTo(2);
        }
    }

    @Test
    void endOfOneSide_endsTheOther() throws IOException {
        try (Socket client = connect();
                Socket server = target.accept()) {
            client.close();
            assertThat(read(server, LIMIT_MILLIS)).isEqualTo(-1);
        }
    }

    @Test
    void pausedWire_holdsBytesBackBothWays_andLosesNone() throws IOException {
        try (Socket client = connect();
                Socket server = target.accept()) {
            wire.pause();
            client.getOutputStream().write(1);
            server.getOutputStream().write(2);
            assertThat(read(server, A_WHILE_MILLIS)).isEqualTo(-2);
            assertThat(read(client, A_WHILE_MILLIS)).isEqualTo(-2);
            wire.resume();
            assertThat(read(server, LIMIT_MILLIS)).isEqualTo(1);
            assertThat(read(client, LIMIT_MILLIS)).isEqualTo(2);
        }
    }

    @Test
    void pausedWire_keepsTheEndOfAConnectionToItself() throws IOException {
        try (Socket client = connect();
                Socket server = target.accept()) {
            wire.pause();
            client.getOutputStream().write(1);
            client.setSoLinger(true, 0); // closing resets the connection, as the end of a killed process may
            client.close();
            assertThat(read(server, A_WHILE_MILLIS)).isEqualTo(-2);
            wire.resume();
            assertThat(read(server, LIMIT_MILLIS)).isNotEqualTo(-2);
        }
    }

    @Test
    void pausedWire_acceptsAndConnectsNoClient() throws IOException {
        wire.pause();
        try (Socket client = connect()) {
            target.setSoTimeout(A_WHILE_MILLIS);
            assertThatThrownBy(target::accept).isInstanceOf(SocketTimeoutException.class);
            wire.resume();
            target.setSoTimeout(LIMIT_MILLIS);
            target.accept().close();
            assertThat(read(client, LIMIT_MILLIS)).isEqualTo(-1);
        }
    }

    @Test
    void hangUp_isNoticedByTheCallerOnly_untilThePauseIsOver() throws IOException {
        try (Socket client = connect();
                Socket server = target.accept()) {
            client.getOutputStream().write(1);
            assertThat(read(server, LIMIT_MILLIS)).isEqualTo(1);
            wire.hangUp();
            assertThat(read(client, LIMIT_MILLIS)).isEqualTo(-1);
            server.getOutputStream().write(2);
            assertThat(read(server, A_WHILE_MILLIS)).isEqualTo(-2);
            wire.resume();
            assertThat(read(server, LIMIT_MILLIS)).isEqualTo(-1);
        }
    }

    @Test
    void closedWire_endsItsConnections_evenWhenPaused() throws IOException {
        try (Socket client = connect();
                Socket server = target.accept()) {
            wire.pause();
            wire.close();
            assertThat(read(client, LIMIT_MILLIS)).isEqualTo(-1);
            assertThat(read(server, LIMIT_MILLIS)).isEqualTo(-1);
        }
    }
}

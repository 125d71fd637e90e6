// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks a server how it stands, by the four-letter command {@code srvr}. */
final class ServerStatus {
    private static final int LIMIT_MILLIS = (int) Duration.ofSeconds(2).toMillis();
    private static final Pattern MODE = Pattern.compile("^Mode: (leader|follower)$", Pattern.MULTILINE);

    private ServerStatus() {}

    static ServerRole ask(int clientPort) {
        Matcher mode = MODE.matcher(srvr(clientPort));
        if (!mode.find()) {
            return ServerRole.NONE;
        }
        return mode.group(1).equals("leader") ? ServerRole.LEADER : ServerRole.FOLLOWER;
    }

    /** Returns the answer; empty if there is none. */
    static String srvr(int clientPort) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(LoopbackPort.loopback(), clientPort), LIMIT_MILLIS);
            socket.setSoTimeout(LIMIT_MILLIS);
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            InputStream answer = socket.getInputStream();
            return new String(answer.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return "";
        }
    }
}

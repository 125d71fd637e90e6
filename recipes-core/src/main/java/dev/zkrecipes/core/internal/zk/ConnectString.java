// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.CharMatcher;
import com.google.common.base.Preconditions;
import com.google.common.net.HostAndPort;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.Printable;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Checks and splits connect strings: {@code host[:port][,host[:port]]...[/chroot]}. */
public final class ConnectString {
    private static final int DEFAULT_PORT = 2181;
    /** The characters of host names and addresses. A percent sign precedes the zone of an IPv6 address. */
    private static final CharMatcher HOST_CHARACTERS = CharMatcher.inRange('a', 'z')
            .or(CharMatcher.inRange('A', 'Z'))
            .or(CharMatcher.inRange('0', '9'))
            .or(CharMatcher.anyOf("-._:%"));

    private ConnectString() {}

    /**
     * Checks a connect string and returns it with every port filled in. Throws an IllegalArgumentException that names
     * the mistake if the string is malformed.
     */
    public static String parse(String connectString) {
        Objects.requireNonNull(connectString, "connectString");
        int slash = connectString.indexOf('/');
        String servers = slash < 0 ? connectString : connectString.substring(0, slash);
        String chroot = slash < 0 ? "" : connectString.substring(slash);
        StringBuilder checked = new StringBuilder();
        try {
            int scheme = connectString.indexOf("://");
            Preconditions.checkArgument(scheme < 0, "leave out \"%s//\"", connectString.substring(0, scheme + 1));
            for (String server : servers.split(",", -1)) {
                checked.append(checked.isEmpty() ? "" : ",").append(parseServer(server.strip()));
            }
            Preconditions.checkArgument(
                    chroot.indexOf(',') < 0,
                    "a chroot that is not the end: it is the same for all servers, give it once");
            // A lone slash means no chroot, as in ZooKeeper's client.
            return chroot.length() <= 1 ? checked.toString() : checked + LockPath.check(chroot, "chroot");
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "malformed connect string \"" + Printable.of(connectString) + "\": "
                            + Printable.of(String.valueOf(e.getMessage()))
                            + "; expected host:port[,host:port]...[/chroot]",
                    e);
        }
    }

    /** Returns the chroot of a checked connect string; empty if it has none. */
    public static String chroot(String checked) {
        int slash = checked.indexOf('/');
        return slash < 0 ? "" : checked.substring(slash);
    }

    /** Returns the servers of a checked connect string. */
    public static List<HostAndPort> servers(String checked) {
        String servers = checked.substring(0, checked.length() - chroot(checked).length());
        return Stream.of(servers.split(",", -1)).map(HostAndPort::fromString).toList();
    }

    private static String parseServer(String server) {
        HostAndPort address =
                HostAndPort.fromString(server).requireBracketsForIPv6().withDefaultPort(DEFAULT_PORT);
        Preconditions.checkArgument(!server.endsWith(":"), "a colon without a port");
        Preconditions.checkArgument(!address.getHost().isEmpty(), "a server without a host name");
        Preconditions.checkArgument(address.getPort() > 0, "port 0");
        Preconditions.checkArgument(
                HOST_CHARACTERS.matchesAllOf(address.getHost()), "a host name with a blank or a special character");
        return address.toString();
    }
}

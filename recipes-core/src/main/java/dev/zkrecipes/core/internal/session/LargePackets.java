// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a client has learnt about packets that no connection survives. It belongs to the client, not to a session: the
 * next session would meet the same packets.
 *
 * <p>An answer that is too large looks like any other loss of the connection, and everything that is under way at that
 * moment is lost with it, guilty or not. So a loss is only a suspicion, and what was answered since is not suspected.
 * What was under way when two connections broke, one after the other, is not sent a third time before the server was
 * asked how large the node is, which a short request tells. That clears or convicts:
 *
 * <ul>
 *   <li>Data: their length is exact.
 *   <li>Children: their number is exact, their names are not known. If this client has listed the path before, names
 *       are as long as they were then, and a quarter more for those that came since; so a busy queue that fits is never
 *       convicted by bad luck. If it never could, names count as long as they usually may be at most: a path with a few
 *       thousand children, which is lost twice in a row at the first attempt, may be innocent. Failing that request is
 *       the lesser harm: nothing was granted, and the caller is told.
 * </ul>
 *
 * <p>A conviction is reviewed by the same short request each time the node is to be read. It ends when the node has
 * shrunk so much that trying again is worth a connection: data to what fits, children to three quarters of what did
 * not.
 *
 * <p>Requests are measured before they are sent. Only a server with a lower limit than the client's drops one that
 * passes, so from the default limit upwards two losses in a row convict requests of that size for the life of the
 * client.
 *
 * <p>Confined to the engine thread.
 */
public final class LargePackets {
    private static final Logger log = LoggerFactory.getLogger(LargePackets.class);

    /** The number of connections that may break before the node's size is asked for. */
    private static final int LOSSES = 2;

    /** What is around the data in an answer, amply. */
    private static final int AROUND = 256;
    /** Of a name in a list, its length included: the longest that a path of usual file systems may have. */
    private static final int LONGEST_NAME = 4 + 255;

    private static final int LARGE_LIST = 1000;

    enum Part {
        CHILDREN,
        DATA
    }

    /** Something that may be too large to be read. */
    record NodePart(Part part, String path) {}

    private static final class Suspicion {
        private long lastConnection;
        private int losses;
        private int convictedSize;
    }

    private final RecentlyUsed<NodePart, Suspicion> suspicions = new RecentlyUsed<>();
    private final RecentlyUsed<String, Integer> bytesPerName = new RecentlyUsed<>();
    private long connections;
    private final Suspicion largeRequests = new Suspicion();

    /** A number for a new connection, which no other one of the client has. */
    long newConnection() {
        return ++connections;
    }

    /** It was under way when this connection broke. */
    void lost(NodePart what, long connection) {
        Suspicion suspicion = suspicions.get(what);
        if (suspicion == null) {
            suspicion = new Suspicion();
            suspicions.put(what, suspicion);
        }
        count(suspicion, connection);
    }

    private static void count(Suspicion suspicion, long connection) {
        if (suspicion.lastConnection != connection) {
            suspicion.lastConnection = connection;
            suspicion.losses++;
        }
    }

    /** Whether anything was lost that was not answered since. */
    boolean hasSuspects() {
        return !suspicions.isEmpty();
    }

    /** The server answered. */
    void answered(NodePart what) {
        if (hasSuspects()) {
            suspicions.remove(what);
        }
    }

    /** The same for a list of children, from which is learnt how long their names are. */
    void listed(String path, List<String> names) {
        if (hasSuspects()) {
            answered(new NodePart(Part.CHILDREN, path));
        }
        if (names.size() >= LARGE_LIST) {
            long bytes = names.stream().mapToLong(name -> 4 + name.length()).sum();
            bytesPerName.put(path, Math.toIntExact(bytes / names.size() * 5 / 4));
        }
    }

    /** Whether to ask for its size before it is read. */
    boolean isSuspect(NodePart what) {
        Suspicion suspicion = suspicions.get(what);
        return suspicion != null && suspicion.losses >= LOSSES;
    }

    /** Notes the node's size as the server tells it; returns whether the node is not to be read. */
    boolean convicts(NodePart what, Stat stat, int limit) {
        Suspicion suspicion = suspicions.get(what);
        int size = what.part() == Part.DATA ? stat.getDataLength() : stat.getNumChildren();
        if (suspicion == null || !mayExceed(what, size, limit) || hasShrunk(what, suspicion, size)) {
            answered(what);
            return false;
        }
        if (suspicion.convictedSize == 0) {
            suspicion.convictedSize = size;
            log.warn(
                    "{} has {}: reading that breaks the connection (jute.maxbuffer is {} here), so locks that need it fail"
                            + " from now on. Remove what does not belong there, or raise jute.maxbuffer on all servers and"
                            + " clients.",
                    Printable.of(what.path()),
                    what.part() == Part.DATA ? size + " bytes of data" : size + " children",
                    limit);
        }
        return true;
    }

    private boolean mayExceed(NodePart what, int size, int limit) {
        if (what.part() == Part.DATA) {
            return (long) size + AROUND > limit;
        }
        @Nullable Integer known = bytesPerName.get(what.path());
        return AROUND + (long) size * (known == null ? LONGEST_NAME : known) > limit;
    }

    private static boolean hasShrunk(NodePart what, Suspicion suspicion, int size) {
        return what.part() == Part.CHILDREN && size < suspicion.convictedSize / 4 * 3;
    }

    // ---- Requests.

    /** Whether a request of so many bytes is not to be sent. */
    boolean forbids(int size, int limit) {
        return size > limit || (size > PacketLimit.DEFAULT && largeRequests.losses >= LOSSES);
    }

    /** A request was answered, or lost with a connection. */
    void sent(int size, boolean lost, long connection) {
        if (size <= PacketLimit.DEFAULT) {
            return;
        }
        if (lost) {
            count(largeRequests, connection);
        } else {
            largeRequests.losses = 0;
        }
    }
}

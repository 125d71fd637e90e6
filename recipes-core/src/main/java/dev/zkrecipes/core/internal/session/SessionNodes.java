// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The nodes of one session, and how many bytes their paths take. When a session ends, the server logs one transaction
 * that names all of its nodes. It reads its log with a limit of {@code jute.maxbuffer}, or twice that with its default
 * settings. A larger record would keep the server from starting, and followers from following.
 *
 * <p>So the paths of a session's nodes take at most seven eighths of the client's limit. The rest is for a chroot,
 * which is not known here if the handle belongs to the application, and for servers that allow no more than the limit
 * itself.
 *
 * <p>A node counts from before its create is sent until it is known to be gone. Confined to the engine thread.
 */
public final class SessionNodes {
    private final int packetLimit; // jute.maxbuffer of the client
    private final int limit; // for the total size of all paths, in bytes
    /** By id of the node: what to run when the node is gone. Most lists are empty and share one object. */
    private final Map<String, List<Runnable>> waiting = new HashMap<>();

    private long bytes;

    SessionNodes(ZooKeeperOperations operations) {
        this.packetLimit = PacketLimit.of(operations);
        this.limit = packetLimit / 8 * 7;
    }

    /** Returns the largest size of a packet, in bytes. */
    public int packetLimit() {
        return packetLimit;
    }

    /** Throws a {@link LockLimitException} if there is no room for {@code more} bytes of paths. */
    public void requireRoom(Supplier<String> lockPath, long more) {
        if (bytes + more > limit) {
            throw new LockLimitException("lock " + lockPath.get() + ": its session has " + waiting.size()
                    + " nodes in queues, whose paths take " + bytes + " bytes; the limit is " + limit
                    + ": when the session ends, the server writes one record that names them all, and it must fit"
                    + " jute.maxbuffer. Let fewer"
                    + " requests wait at once, use a shorter path, or spread the locks over several clients");
        }
    }

    /** Adds a node whose path takes {@code size} bytes. */
    public void add(String id, int size) {
        waiting.put(id, List.of());
        bytes += size;
    }

    /**
     * Removes a node that is gone. Subtracts the {@code size} that was added for it, or 0, and runs what waits for its
     * deletion.
     */
    public void remove(String id, int size) {
        List<Runnable> told = waiting.remove(id);
        bytes -= size;
        if (told != null && !told.isEmpty()) {
            told.forEach(Runnable::run);
        }
    }

    /**
     * Returns whether the node with this id in its name belongs to this session. If it does, {@code task} runs once the
     * server has said, in its answer to a request of this session, that the node is gone. The event of its deletion
     * alone does not prove that the session is alive, because the end of the session deletes its nodes as well.
     */
    public boolean awaitEnd(String id, Runnable task) {
        return waiting.computeIfPresent(id, (known, tasks) -> {
                    List<Runnable> more = tasks.isEmpty() ? new ArrayList<>(1) : tasks; // thousands may wait for it
                    more.add(task);
                    return more;
                })
                != null;
    }

    /** Whether the node with this id belongs to this session, and the server has not said that it is gone. */
    public boolean has(String id) {
        return waiting.containsKey(id);
    }

    /** Whether the remaining nodes are so few that the end of the session may delete them all in one transaction. */
    public boolean isSmall() {
        return bytes <= limit / 16;
    }
}

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
 * The bytes of the paths of one session's nodes. When a session ends, the server logs one transaction that names all of
 * them; one that is larger than {@code jute.maxbuffer}, and as much again in its default settings, keeps it from
 * starting, and followers from following. So a session's nodes stay below seven eighths of the client's limit: what is
 * left is for a chroot, which is not seen here on a handle of the application's, and for servers that allow no more
 * than the limit. A node counts from before its create is sent until it is known to be gone. Confined to the engine
 * thread.
 */
public final class SessionNodes {
    private final int packetLimit;
    private final int limit;
    /** By id of the node; most lists are empty and shared. */
    private final Map<String, List<Runnable>> waiting = new HashMap<>();

    private long bytes;

    SessionNodes(ZooKeeperOperations operations) {
        this.packetLimit = PacketLimit.of(operations);
        this.limit = packetLimit / 8 * 7;
    }

    public int packetLimit() {
        return packetLimit;
    }

    public void requireRoom(Supplier<String> lockPath, long more) {
        if (bytes + more > limit) {
            throw new LockLimitException("lock " + lockPath.get() + ": its session has " + waiting.size()
                    + " nodes in queues, whose paths take " + bytes + " bytes; the limit is " + limit
                    + ": when the session ends, the server writes one record that names them all, and it must fit"
                    + " jute.maxbuffer. Let fewer"
                    + " requests wait at once, use a shorter path, or spread the locks over several clients");
        }
    }

    public void add(String id, int size) {
        waiting.put(id, List.of());
        bytes += size;
    }

    public void remove(String id, int size) {
        List<Runnable> told = waiting.remove(id);
        bytes -= size;
        if (told != null && !told.isEmpty()) {
            told.forEach(Runnable::run);
        }
    }

    /**
     * Whether the node with this id in its name is one of this session's; then {@code task} runs when the server has
     * said, in answer to a request of this session, that it is gone. A deletion alone does not prove as much: the end
     * of the session deletes the node as well.
     */
    public boolean awaitEnd(String id, Runnable task) {
        return waiting.computeIfPresent(id, (known, tasks) -> {
                    List<Runnable> more = tasks.isEmpty() ? new ArrayList<>(1) : tasks; // thousands may wait for one
                    more.add(task);
                    return more;
                })
                != null;
    }

    /** Whether a node with this id is one of this session's, as far as the server has said. */
    public boolean has(String id) {
        return waiting.containsKey(id);
    }

    /** Whether the remaining nodes are few enough to be deleted by the end of the session in one transaction. */
    public boolean isSmall() {
        return bytes <= limit / 16;
    }
}

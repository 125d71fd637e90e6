// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.jute.Record;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.ByteBufferInputStream;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.persistence.TxnLog.TxnIterator;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.DeleteTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.Txn;
import org.apache.zookeeper.txn.TxnHeader;
import org.jspecify.annotations.Nullable;

/** What the servers did and in which order, from their transaction logs. This is the truth about who held a lock. */
final class ServerLog {
    /** The zxid and the time of the deletion if the node still exists. */
    static final long NEVER = Long.MAX_VALUE;

    /**
     * The life of a node, from the transaction that created it to the one that deleted it. The times are the leader's,
     * as nanoseconds of this machine's monotonic clock.
     */
    record Life(String node, long created, long createdAt, long deleted, long deletedAt) {}

    /** A guarded write of a counter, which names the writer's node. */
    record GuardedWrite(String counter, long zxid, long value, String node) {}

    /** A transaction, as one server logged it. */
    private record Step(TxnHeader header, Record what) {}

    private final Map<String, Life> lives = new HashMap<>();
    private final Map<Long, Set<String>> nodesOfSessions = new HashMap<>();
    private final List<GuardedWrite> guardedWrites = new ArrayList<>();
    private final long wallMinusMonotonic;

    /**
     * Creates an empty log.
     *
     * @param wallMinusMonotonic by how many nanoseconds the wall clock is ahead of the monotonic clock
     */
    ServerLog(long wallMinusMonotonic) {
        this.wallMinusMonotonic = wallMinusMonotonic;
    }

    /**
     * Reads the logs of servers that have ended. A transaction that most of the logs do not have was never committed.
     * Not all logs have to contain it: a server that was given a snapshot lacks what the others have logged.
     */
    static ServerLog read(List<Path> dataDirectories, long wallMinusMonotonic) throws IOException {
        TreeMap<Long, List<Step>> steps = new TreeMap<>();
        for (Path directory : dataDirectories) {
            try (FileTxnLog files =
                            new FileTxnLog(directory.resolve("version-2").toFile());
                    TxnIterator each = files.read(0)) {
                while (each.getHeader() != null) {
                    steps.computeIfAbsent(each.getHeader().getZxid(), any -> new ArrayList<>())
                            .add(new Step(each.getHeader(), each.getTxn()));
                    if (!each.next()) {
                        break;
                    }
                }
            }
        }
        ServerLog log = new ServerLog(wallMinusMonotonic);
        for (List<Step> copies : steps.values()) {
            if (copies.size() > dataDirectories.size() / 2) {
                Step step = copies.get(0);
                log.add(step.header, step.header.getType(), step.what);
            }
        }
        return log;
    }

    private void add(TxnHeader header, int type, Record what) throws IOException {
        if (what instanceof MultiTxn multi) {
            for (Txn part : multi.getTxns()) {
                Record decoded = decode(part);
                if (decoded != null) {
                    add(header, part.getType(), decoded);
                }
            }
        } else if (what instanceof CreateTxn create) {
            create(create.getPath(), create.getEphemeral() ? header.getClientId() : 0, header.getZxid(), at(header));
        } else if (what instanceof DeleteTxn delete) {
            delete(delete.getPath(), header.getZxid(), at(header));
        } else if (what instanceof SetDataTxn set && set.getData() != null) {
            set(set.getPath(), new String(set.getData(), StandardCharsets.US_ASCII), header.getZxid());
        } else if (type == OpCode.closeSession) {
            endSession(header.getClientId(), header.getZxid(), at(header));
        }
    }

    private static @Nullable Record decode(Txn part) throws IOException {
        Record record = switch (part.getType()) {
            case OpCode.create, OpCode.create2 -> new CreateTxn();
            case OpCode.delete -> new DeleteTxn();
            case OpCode.setData -> new SetDataTxn();
            default -> null;
        };
        if (record != null) {
            ByteBufferInputStream.byteBuffer2Record(ByteBuffer.wrap(part.getData()), record);
        }
        return record;
    }

    private long at(TxnHeader header) {
        return TimeUnit.MILLISECONDS.toNanos(header.getTime()) - wallMinusMonotonic;
    }

    /** Records the creation of a node; {@code session} is 0 if the node is not ephemeral. */
    void create(String node, long session, long zxid, long at) {
        lives.put(node, new Life(node, zxid, at, NEVER, NEVER));
        if (session != 0) {
            nodesOfSessions.computeIfAbsent(session, any -> new HashSet<>()).add(node);
        }
    }

    void delete(String node, long zxid, long at) {
        lives.computeIfPresent(
                node,
                (any, life) -> life.deleted == NEVER ? new Life(node, life.created, life.createdAt, zxid, at) : life);
    }

    void endSession(long session, long zxid, long at) {
        Set<String> nodes = nodesOfSessions.remove(session);
        if (nodes != null) {
            nodes.forEach(node -> delete(node, zxid, at));
        }
    }

    void set(String path, String data, long zxid) {
        String[] words = data.split(" ", -1);
        if (words.length == 2) {
            guardedWrites.add(new GuardedWrite(path, zxid, Long.parseLong(words[0]), words[1]));
        }
    }

    /** Returns the lives of all nodes by path. Each sequential node has a path of its own. */
    Map<String, Life> lives() {
        return lives;
    }

    boolean isThere(String node, long zxid) {
        Life life = lives.get(node);
        return life != null && life.created < zxid && zxid < life.deleted;
    }

    /** Returns the guarded writes in the order of their transactions. */
    List<GuardedWrite> guardedWrites() {
        return guardedWrites;
    }
}

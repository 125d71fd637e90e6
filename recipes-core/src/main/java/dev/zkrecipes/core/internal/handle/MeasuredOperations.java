// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.internal.handle.LostReads.NodePart;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;
import org.jspecify.annotations.Nullable;

/**
 * The operations of one session, with two differences from those of its handle. If the servers do not support container
 * nodes, see {@link Containers}, persistent nodes replace them. And a request that the connection would not survive is
 * not sent: its answer is MARSHALLINGERROR, ZooKeeper's own code for what does not fit a packet, together with the
 * metadata of the node if they are known.
 *
 * <p><b>Packets.</b> An answer that is too large looks like any other loss of the connection. All requests in flight at
 * that moment are lost with it, whether or not they caused the loss. So a read that was in flight when two connections
 * broke, one after the other, is merely suspect. Before it is sent a third time, and each time as long as it is
 * suspect, a short request asks the server for the metadata of the node. A part that may be too large is not read.
 *
 * <p>{@link LostReads} says how that is judged, and {@link LostWrites} which requests are not sent although they are
 * within the client's limit.
 *
 * <p><b>Old servers.</b> A server that does not know multi-reads rejects the request, and cuts the connection. From
 * then on multi-reads are answered UNIMPLEMENTED here. But the rejection overtakes the answers to earlier requests, and
 * ZooKeeper's client does not accept an answer out of order. It drops the connection instead, without reporting why. So
 * a multi-read that was lost twice is sent again only after everything before it was answered.
 *
 * <p>Every request is answered eventually, see {@link Silence}. Confined to the engine thread.
 */
public final class MeasuredOperations implements ZooKeeperOperations {
    private final Silence silence;
    private final ZooKeeperOperations inner;
    private final EngineScheduler scheduler;
    private final Containers containers;
    private final int limit; // maximum size of a packet, in bytes
    private final LostReads reads;
    private final LostWrites writes;
    private long connection = 1; // the number of the current connection or, without one, of the next one
    private long lastBegun; // the number of the latest established connection; 0 before the first
    private boolean knowsMultiReads = true; // until a server rejects them, as before version 3.6

    public MeasuredOperations(
            Factory handles, EngineScheduler scheduler, Containers containers, Consumer<State> states) {
        this.scheduler = scheduler;
        this.containers = containers;
        this.silence = new Silence(handles, scheduler, state -> {
            note(state);
            states.accept(state);
        });
        this.inner = silence.handle;
        this.limit = PacketLimit.of(inner);
        this.reads = new LostReads(scheduler, limit);
        this.writes = new LostWrites(scheduler, limit);
        note(inner.initialState());
    }

    /** Must be called on each beat of the session, with the session's state. Silence is measured in beats. */
    public void beat(State state) {
        silence.beat(state);
    }

    /** Whether a server has ever answered a request of the session. */
    public boolean hasAnswered() {
        return silence.hasAnswered();
    }

    /** Whether the handle was given up because no server answered it. */
    public boolean isGivenUp() {
        return silence.isGivenUp();
    }

    /** Whether the servers are believed to support container nodes. */
    public boolean hasContainers() {
        return !containers.areUnused();
    }

    // ---- Operations that are passed on unchanged.

    @Override
    public State initialState() {
        return inner.initialState();
    }

    @Override
    public long sessionId() {
        return inner.sessionId();
    }

    @Override
    public Duration sessionTimeout() {
        return inner.sessionTimeout();
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return inner.handle();
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        inner.dropWatch(path, watch);
    }

    @Override
    public void close() {
        inner.close();
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        inner.createEphemeralSequential(prefix, data, acl, silence.endedBy(reply));
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        inner.delete(path, silence.endedBy(reply));
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        inner.acl(path, silence.endedBy(reply));
    }

    // ---- Requests that are lost with a connection.

    /** Counts the connections. A request sent after the loss of one belongs to the next. */
    private void note(State state) {
        if (state == State.CONNECTED) {
            lastBegun = connection;
        } else if (connection == lastBegun) {
            connection++;
        }
    }

    /**
     * Whether a request was lost with the connection on which it was sent. It was not if that connection was never
     * established. A lost request shows the loss of the connection before the change of state does, and that change may
     * never be reported. So the count advances to the next connection here, to which later requests belong.
     */
    private boolean isLost(Answer<?> answer, long sentOn) {
        boolean isLost = answer.code() == Code.CONNECTIONLOSS && sentOn <= lastBegun;
        if (isLost && connection == sentOn) {
            connection++;
            lastBegun = connection;
        }
        return isLost;
    }

    /** Whether a request was lost with its connection, and is the first one known to be lost with it. */
    private boolean isFirstLost(Answer<?> answer, long sentOn) {
        boolean isFirst = connection == sentOn;
        return isLost(answer, sentOn) && isFirst;
    }

    /** Records the answer to a read: which parts were lost with the connection, and which are no longer suspect. */
    private void note(List<NodePart> parts, Answer<?> answer, long sentOn) {
        boolean isLost = !answer.isOk() && isLost(answer, sentOn);
        for (NodePart part : parts) {
            if (isLost) {
                reads.onLost(part, sentOn);
            } else if (!answer.isUnsettled()) {
                reads.onAnswered(part);
            }
        }
        if (answer.valueOrNull() instanceof Children list) {
            reads.learn(parts.get(0), list.names());
        }
    }

    // ---- Reads, whose answers may be too large.

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        NodePart list = new NodePart(true, path);
        if (!isExamined(list, stat -> new Children(List.of(), stat), reply)) {
            inner.children(path, noting(List.of(list), reply));
        }
    }

    @Override
    public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
        NodePart list = new NodePart(true, path);
        if (!isExamined(list, stat -> List.of(), reply)) {
            inner.watchChildren(path, watch, noting(List.of(list), reply));
        }
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        NodePart data = new NodePart(false, path);
        if (!isExamined(data, stat -> new Content(new byte[0], stat), reply)) {
            inner.read(path, noting(List.of(data), reply));
        }
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        NodePart data = new NodePart(false, path);
        if (!isExamined(data, stat -> new Content(new byte[0], stat), reply)) {
            inner.readAndWatch(path, watch, noting(List.of(data), reply));
        }
    }

    /**
     * If the part is suspect, requests its size and returns true. If the part turns out to be harmless, the read is
     * answered as lost once more, and the caller repeats it if it still needs it. The read is not sent from here,
     * because a watch could then be set after its owner has dropped it.
     */
    private <T> boolean isExamined(NodePart part, Function<Stat, T> known, Consumer<Answer<T>> reply) {
        boolean isSuspect = reads.isSuspect(part);
        if (isSuspect) {
            examine(
                    reads.new Examination(List.of(part)),
                    known,
                    () -> reply.accept(Answer.failed(Code.CONNECTIONLOSS)),
                    reply);
        }
        return isSuspect;
    }

    /** Wraps the receiver of the answer to a read that is about to be sent, to record whether the read was lost. */
    private <T> Consumer<Answer<T>> noting(List<NodePart> parts, Consumer<Answer<T>> reply) {
        long sentOn = connection;
        return silence.endedBy(answer -> {
            note(parts, answer, sentOn);
            reply.accept(answer);
        });
    }

    /**
     * Requests the size of the suspect parts, one after another. As soon as they may be too large together, the request
     * is answered with MARSHALLINGERROR. If they are not, runs {@code harmless}.
     */
    private <T> void examine(
            LostReads.Examination examination,
            Function<Stat, @Nullable T> known,
            Runnable harmless,
            Consumer<Answer<T>> reply) {
        NodePart suspect = examination.next();
        acl(suspect.path(), answer -> {
            if (!answer.isOk()) {
                if (answer.code() == Code.NONODE) {
                    reads.onAnswered(suspect);
                }
                reply.accept(Answer.failed(answer.code()));
                return;
            }
            Stat stat = answer.value().stat();
            if (examination.isTooLargeWith(stat)) {
                reply.accept(new Answer<>(Code.MARSHALLINGERROR, known.apply(stat)));
            } else if (examination.hasNext()) {
                examine(examination, known, harmless, reply);
            } else {
                examination.end();
                harmless.run();
            }
        });
    }

    /** Sends writes together, or reads together. ZooKeeper does not allow mixing the two. */
    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        if (operations.stream().anyMatch(operation -> operation.getKind() != Op.OpKind.READ)) {
            write(operations, reply);
        } else if (knowsMultiReads) {
            readTogether(operations, reply);
        } else {
            scheduler.execute(() -> reply.accept(Answer.failed(Code.UNIMPLEMENTED)));
        }
    }

    /** Sends a multi-read once no part of it is suspect any more. */
    private void readTogether(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        List<NodePart> parts = operations.stream()
                .map(read -> new NodePart(read.getType() == OpCode.getChildren, read.getPath()))
                .toList();
        List<NodePart> suspects = parts.stream().filter(reads::isSuspect).toList();
        if (!suspects.isEmpty()) {
            examine(reads.new Examination(suspects), stat -> null, () -> multi(operations, reply), reply);
            return;
        }
        inner.multi(operations, noting(parts, answer -> {
            knowsMultiReads &= answer.code() != Code.UNIMPLEMENTED; // stays false whatever is answered later
            List<OpResult> results = answer.valueOrNull();
            for (int i = 0; results != null && i < results.size(); i++) {
                if (results.get(i) instanceof GetChildrenResult list) {
                    reads.learn(parts.get(i), list.getChildren());
                }
            }
            reply.accept(answer);
        }));
    }

    // ---- Writes, which may create containers, and may themselves be too large.

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        if (containers.areUnused()) {
            createPersistent(path, acl, reply);
            return;
        }
        long sentOn = connection;
        inner.createContainer(path, acl, silence.endedBy(answer -> {
            containers.note(answer, isFirstLost(answer, sentOn));
            if (answer.code() == Code.UNIMPLEMENTED) {
                createPersistent(path, acl, reply);
            } else {
                reply.accept(answer);
            }
        }));
    }

    /** Creates a persistent node in place of a container. */
    private void createPersistent(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        List<Op> create = List.of(Op.create(path, new byte[0], acl, CreateMode.PERSISTENT));
        write(create, answer -> reply.accept(new Answer<>(answer.code(), path)));
    }

    /** Returns the operation, with a persistent node if it creates a container. */
    private static Op withoutContainer(Op operation) {
        return makesContainer(operation) && operation.toRequestRecord() instanceof CreateRequest create
                ? Op.create(operation.getPath(), create.getData(), create.getAcl(), CreateMode.PERSISTENT)
                : operation;
    }

    private static boolean makesContainer(Op operation) {
        return operation.getType() == OpCode.createContainer;
    }

    /**
     * Sends writes as one request. If it is too large, or two connections were just lost with requests that were not
     * larger, it is not sent but answered with MARSHALLINGERROR.
     */
    private void write(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        boolean makesContainer = operations.stream().anyMatch(MeasuredOperations::makesContainer);
        if (makesContainer && containers.areUnused()) {
            write(operations.stream().map(MeasuredOperations::withoutContainer).toList(), reply);
            return;
        }
        int size = PacketLimit.sizeOf(operations);
        if (size > limit || writes.isSuspect(size)) {
            scheduler.execute(() -> reply.accept(Answer.failed(Code.MARSHALLINGERROR)));
            return;
        }
        long sentOn = connection;
        inner.multi(operations, silence.endedBy(answer -> {
            boolean isCut = isFirstLost(answer, sentOn); // counts any write: a container lost later is not first
            if (makesContainer) {
                containers.note(answer, isCut);
            }
            if (isLost(answer, sentOn)) {
                writes.onLost(size, sentOn);
            } else if (!answer.isUnsettled()) {
                writes.onAnswered(size);
            }
            reply.accept(answer);
        }));
    }
}

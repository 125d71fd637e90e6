// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.internal.wire.Printable;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operations of a session, without container nodes where there are none, see {@link Containers}, and without those
 * that its connection would not survive. Such a one is answered with MARSHALLINGERROR, ZooKeeper's own code for what it
 * cannot put into a packet, and with what is known of the node.
 *
 * <p><b>Packets.</b> An answer that is too large looks like any other loss of the connection, with which all is lost
 * that is under way, guilty or not. So what was under way when two connections broke, one after the other, is only
 * suspected: before it is read a third time, and each time from then on, a short request asks the server for its
 * metadata, and what may be too large is not read. The length of data is exact. Of children the number is known; names
 * are taken to be a quarter longer than when this session listed the path, or as long as they usually may be at most.
 * Requests are measured before they are sent. Only a server with a lower limit than the client's drops one that passes,
 * so two losses in a row convict requests above the default limit.
 *
 * <p><b>Old servers.</b> A server that does not know a request says so and cuts the connection. So from then on
 * multi-reads are answered UNIMPLEMENTED here. It says so before it answers what was sent earlier, and the client does
 * not read an answer out of order: it gives the connection up, and nobody learns why. So a multi-read that was lost
 * twice is sent again when everything before it is answered.
 *
 * <p>Each request is answered, see {@link Silence}. Confined to the engine thread.
 */
public final class MeasuredOperations implements ZooKeeperOperations {
    private static final Logger log = LoggerFactory.getLogger(MeasuredOperations.class);

    /** The number of connections that may break before the node's size is asked for. */
    private static final int LOSSES = 2;
    /** What is around the data in an answer, amply. */
    private static final int AROUND = 256;
    /** The bytes of a name in a list, its length included: the longest that usual file systems allow. */
    private static final int LONGEST_NAME = 4 + 255;

    private static final int LARGE_LIST = 1000;
    private static final NodePart LARGE_REQUEST = new NodePart(false, "");

    /** The children of a node, or its data. */
    private record NodePart(boolean isList, String path) {}

    /** The connections that broke with something under way since it was last answered. */
    private static final class Losses {
        private int count;
        private long lastConnection;
        private boolean isReported;
    }

    private final Silence silence;
    private final ZooKeeperOperations inner;
    private final EngineScheduler scheduler;
    private final Containers containers;
    private final int limit;
    private final RecentlyUsed<NodePart, Losses> lost = new RecentlyUsed<>();
    private final RecentlyUsed<String, Integer> bytesPerName = new RecentlyUsed<>(); // of paths with many children
    private long connection = 1; // the one that stands or, while none does, the next one, which takes what is given now
    private long lastBegun; // 0 before the first
    private boolean knowsMultiReads = true; // unless the server said no, as before 3.6

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
        note(inner.initialState());
    }

    public void beat() {
        silence.beat();
    }

    public boolean hasAnswered() {
        return silence.hasAnswered();
    }

    public boolean isGivenUp() {
        return silence.isGivenUp();
    }

    // ---- What is passed on as it is.

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

    @Override
    public void watchDeletion(String path, Consumer<NodeEvent> watch, Consumer<Answer<String>> reply) {
        inner.watchDeletion(path, watch, silence.endedBy(reply));
    }

    // ---- What is lost with a connection.

    private void note(State state) {
        if (state == State.CONNECTED) {
            lastBegun = connection;
        } else if (connection == lastBegun) {
            connection++;
        }
    }

    /**
     * Whether a request was lost with the connection that it was given for; not if that one never came about. A loss is
     * known before the change of the state, which may not be told at all: later requests go over the next connection.
     */
    private boolean isLost(Answer<?> answer, long sentOn) {
        boolean isLost = answer.code() == Code.CONNECTIONLOSS && sentOn <= lastBegun;
        if (isLost && connection == sentOn) {
            connection++;
            lastBegun = connection;
        }
        return isLost;
    }

    /** Whether nothing else is known to have been lost with that connection before. */
    private boolean isFirstLost(Answer<?> answer, long sentOn) {
        boolean isFirst = connection == sentOn;
        return isLost(answer, sentOn) && isFirst;
    }

    private void note(List<NodePart> parts, Answer<?> answer, long sentOn) {
        boolean isLost = !answer.isOk() && isLost(answer, sentOn);
        for (NodePart part : parts) {
            if (isLost) {
                Losses losses = lost.computeIfAbsent(part, first -> new Losses());
                losses.count += losses.lastConnection == sentOn ? 0 : 1;
                losses.lastConnection = sentOn;
            } else if (!lost.isEmpty() && !answer.isUnsettled()) {
                lost.remove(part);
            }
        }
        if (answer.valueOrNull() instanceof Children list) {
            learn(parts.get(0), list.names());
        }
    }

    private void learn(NodePart part, List<String> names) {
        if (names.size() >= LARGE_LIST) {
            long bytes = names.stream().mapToLong(name -> 4 + name.length()).sum();
            bytesPerName.put(part.path(), Math.toIntExact(bytes / names.size() * 5 / 4));
        }
    }

    private boolean isSuspect(NodePart what) {
        Losses losses = lost.isEmpty() ? null : lost.get(what); // as a rule without a hash, which takes a JVM's time
        return losses != null && losses.count >= LOSSES;
    }

    private boolean mayBeTooLarge(NodePart what, Stat stat) {
        long bytes = what.isList()
                ? (long) stat.getNumChildren() * bytesPerName.getOrDefault(what.path(), LONGEST_NAME)
                : stat.getDataLength();
        return bytes + AROUND > limit;
    }

    /** Once, and by name: the error of a request for several paths names the first of them, however large it is. */
    private void report(NodePart what, Stat stat) {
        Losses losses = lost.get(what);
        if (losses != null && !losses.isReported) {
            losses.isReported = true;
            log.warn(
                    "{} has {}: reading that breaks the connection (jute.maxbuffer is {} here), so locks that need it fail"
                            + " from now on. Remove what does not belong there, or raise jute.maxbuffer on all servers and"
                            + " clients.",
                    Printable.of(what.path()),
                    what.isList() ? stat.getNumChildren() + " children" : stat.getDataLength() + " bytes of data",
                    limit);
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
     * Asks how large it is if it is suspected. If it is harmless, the read counts as lost once more, and the caller
     * asks again if it still wants to know: sent now, a watch could come after its end.
     */
    private <T> boolean isExamined(NodePart part, Function<Stat, T> known, Consumer<Answer<T>> reply) {
        boolean isSuspect = isSuspect(part);
        if (isSuspect) {
            examine(List.of(part), known, () -> reply.accept(Answer.failed(Code.CONNECTIONLOSS)), reply);
        }
        return isSuspect;
    }

    /** A receiver of the answer to what is about to be sent, which also notes whether it was lost. */
    private <T> Consumer<Answer<T>> noting(List<NodePart> parts, Consumer<Answer<T>> reply) {
        long sentOn = connection;
        return silence.endedBy(answer -> {
            note(parts, answer, sentOn);
            reply.accept(answer);
        });
    }

    private <T> void examine(
            List<NodePart> suspects, Function<Stat, @Nullable T> known, Runnable harmless, Consumer<Answer<T>> reply) {
        NodePart suspect = suspects.get(0);
        acl(suspect.path(), answer -> {
            if (answer.isOk() && mayBeTooLarge(suspect, answer.value().stat())) {
                report(suspect, answer.value().stat());
                reply.accept(new Answer<>(
                        Code.MARSHALLINGERROR, known.apply(answer.value().stat())));
                return;
            }
            if (answer.isOk() || answer.code() == Code.NONODE) {
                lost.remove(suspect);
            }
            if (!answer.isOk()) {
                reply.accept(Answer.failed(answer.code()));
            } else if (suspects.size() > 1) {
                examine(suspects.subList(1, suspects.size()), known, harmless, reply);
            } else {
                harmless.run();
            }
        });
    }

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

    private void readTogether(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        List<NodePart> parts = operations.stream()
                .map(read -> new NodePart(read.getType() == OpCode.getChildren, read.getPath()))
                .toList();
        List<NodePart> suspects = parts.stream().filter(this::isSuspect).toList();
        if (!suspects.isEmpty()) {
            examine(suspects, stat -> null, () -> multi(operations, reply), reply);
            return;
        }
        inner.multi(operations, noting(parts, answer -> {
            knowsMultiReads &= answer.code() != Code.UNIMPLEMENTED; // another may have been under way
            List<OpResult> results = answer.valueOrNull();
            for (int i = 0; results != null && i < results.size(); i++) {
                if (results.get(i) instanceof GetChildrenResult list) {
                    learn(parts.get(i), list.getChildren());
                }
            }
            reply.accept(answer);
        }));
    }

    // ---- Writes: containers, where there are any, and what may be too large itself.

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

    private void createPersistent(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        List<Op> create = List.of(Op.create(path, new byte[0], acl, CreateMode.PERSISTENT));
        write(create, answer -> reply.accept(new Answer<>(answer.code(), path)));
    }

    private static Op withoutContainer(Op operation) {
        return makesContainer(operation) && operation.toRequestRecord() instanceof CreateRequest create
                ? Op.create(operation.getPath(), create.getData(), create.getAcl(), CreateMode.PERSISTENT)
                : operation;
    }

    private static boolean makesContainer(Op operation) {
        return operation.getType() == OpCode.createContainer;
    }

    private void write(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        boolean makesContainer = operations.stream().anyMatch(MeasuredOperations::makesContainer);
        if (makesContainer && containers.areUnused()) {
            write(operations.stream().map(MeasuredOperations::withoutContainer).toList(), reply);
            return;
        }
        int size = PacketLimit.sizeOf(operations);
        boolean isLarge = size > PacketLimit.DEFAULT;
        if (size > limit || (isLarge && isSuspect(LARGE_REQUEST))) {
            scheduler.execute(() -> reply.accept(Answer.failed(Code.MARSHALLINGERROR)));
            return;
        }
        long sentOn = connection;
        inner.multi(operations, silence.endedBy(answer -> {
            boolean isCut = isFirstLost(answer, sentOn); // also noted for a container that is lost behind this
            if (makesContainer) {
                containers.note(answer, isCut);
            }
            if (isLarge) {
                note(List.of(LARGE_REQUEST), answer, sentOn);
            }
            reply.accept(answer);
        }));
    }
}

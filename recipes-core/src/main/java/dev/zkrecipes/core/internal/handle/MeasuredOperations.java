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
 * The operations of one session, with two differences from those of its handle. Where servers have no container
 * nodes, see {@link Containers}, persistent nodes take their place. And a request that the connection would not
 * survive is not sent: its answer is MARSHALLINGERROR, ZooKeeper's own code for what does not fit a packet, with what
 * is known of the node.
 *
 * <p><b>Packets.</b> An answer that is too large looks like any other loss of the connection. Everything that is
 * under way at that moment is lost with it, guilty or not. So a read that was under way when two connections broke,
 * one after the other, is only suspected. Before it is sent a third time, and each time from then on, a short request
 * asks the server for the metadata of the node. What may be too large is not read.
 *
 * <p>The metadata tell the length of data exactly. Of children they tell only the number. Their names are taken to be
 * a quarter longer on average than when this session last listed the path or, if it never did, as long as they
 * usually may be at most.
 *
 * <p>Requests are measured before they are sent. A request that passes is dropped only by a server with a lower limit
 * than the client's, so after two losses in a row no request above the default limit is sent.
 *
 * <p><b>Old servers.</b> A server that does not know multi-reads says so, and cuts the connection. From then on
 * multi-reads are answered UNIMPLEMENTED here. But the server says so before it answers what was sent earlier, and
 * ZooKeeper's client does not accept an answer out of order. It gives the connection up instead, and nobody learns
 * why. So a multi-read that was lost twice is sent again only after everything before it was answered.
 *
 * <p>Every request is answered at some time, see {@link Silence}. Confined to the engine thread.
 */
public final class MeasuredOperations implements ZooKeeperOperations {
    private static final Logger log = LoggerFactory.getLogger(MeasuredOperations.class);

    /** How many connections may break before the server is asked for the node's size. */
    private static final int LOSSES = 2;
    /** More bytes than an answer has besides the data. */
    private static final int AROUND = 256;
    /** The most bytes of a name in a list, with its length in front: usual file systems allow no longer name. */
    private static final int LONGEST_NAME = 4 + 255;

    private static final int LARGE_LIST = 1000; // names, enough to learn how long they are on this path
    private static final NodePart LARGE_REQUEST = new NodePart(false, ""); // stands for all above the default limit

    /** A part of a node that may be too large to be read: the list of its children, or its data. */
    private record NodePart(boolean isList, String path) {}

    /** The connections that broke while a read was under way, since that read was last answered. */
    private static final class Losses {
        private int count;
        private long lastConnection; // the last of them: each connection counts once
        private boolean isReported; // whether the log says that it is too large
    }

    private final Silence silence;
    private final ZooKeeperOperations inner;
    private final EngineScheduler scheduler;
    private final Containers containers;
    private final int limit; // of a packet, in bytes
    private final RecentlyUsed<NodePart, Losses> lost = new RecentlyUsed<>(); // and not answered since
    private final RecentlyUsed<String, Integer> bytesPerName = new RecentlyUsed<>(); // of paths with many children
    private long connection = 1; // the number of the present connection or, without one, of the next one
    private long lastBegun; // the number of the last connection that came about; 0 before the first
    private boolean knowsMultiReads = true; // until a server says that it does not, as before version 3.6

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

    /** To be called with each beat of the session, by which silence is measured, and with the session's state. */
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

    /** Whether the servers are taken to have container nodes. */
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

    /** Counts the connections. What is sent after the loss of one belongs to the next. */
    private void note(State state) {
        if (state == State.CONNECTED) {
            lastBegun = connection;
        } else if (connection == lastBegun) {
            connection++;
        }
    }

    /**
     * Whether a request was lost with the connection for which it was given. It was not if that connection never came
     * about. A lost request shows the loss of the connection before the change of the state does, and that change may
     * never be told. So the next connection begins here, and takes the requests that follow.
     */
    private boolean isLost(Answer<?> answer, long sentOn) {
        boolean isLost = answer.code() == Code.CONNECTIONLOSS && sentOn <= lastBegun;
        if (isLost && connection == sentOn) {
            connection++;
            lastBegun = connection;
        }
        return isLost;
    }

    /** Whether a request was lost with its connection, and no other was known to be lost with it before. */
    private boolean isFirstLost(Answer<?> answer, long sentOn) {
        boolean isFirst = connection == sentOn;
        return isLost(answer, sentOn) && isFirst;
    }

    /**
     * Notes the answer to a read: which parts were lost with the connection, and which are not suspected any more.
     */
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

    /** Learns from a long list how long the names on this path are, and a quarter more for those that come later. */
    private void learn(NodePart part, List<String> names) {
        if (names.size() >= LARGE_LIST) {
            long bytes = names.stream().mapToLong(name -> 4 + name.length()).sum();
            bytesPerName.put(part.path(), Math.toIntExact(bytes / names.size() * 5 / 4));
        }
    }

    private boolean isSuspect(NodePart what) {
        Losses losses = lost.isEmpty() ? null : lost.get(what); // usually empty, which saves the hash of a record
        return losses != null && losses.count >= LOSSES;
    }

    /** Whether the answer may not fit a packet, by the metadata of the node. */
    private boolean mayBeTooLarge(NodePart what, Stat stat) {
        long bytes = what.isList()
                ? (long) stat.getNumChildren() * bytesPerName.getOrDefault(what.path(), LONGEST_NAME)
                : stat.getDataLength();
        return bytes + AROUND > limit;
    }

    /**
     * Logs, once, which part is too large. The error of a request for several paths does not tell that: it names the
     * first path, whichever is too large.
     */
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
     * If the part is suspected, asks how large it is, and returns true. If it turns out to be harmless, the read is
     * answered as lost once more, and the caller sends it again if it still needs it. It is not sent from here,
     * because a watch could then be set after its owner has dropped it.
     */
    private <T> boolean isExamined(NodePart part, Function<Stat, T> known, Consumer<Answer<T>> reply) {
        boolean isSuspect = isSuspect(part);
        if (isSuspect) {
            examine(List.of(part), known, () -> reply.accept(Answer.failed(Code.CONNECTIONLOSS)), reply);
        }
        return isSuspect;
    }

    /** Wraps the receiver of the answer to a read that is about to be sent, to note whether the read was lost. */
    private <T> Consumer<Answer<T>> noting(List<NodePart> parts, Consumer<Answer<T>> reply) {
        long sentOn = connection;
        return silence.endedBy(answer -> {
            note(parts, answer, sentOn);
            reply.accept(answer);
        });
    }

    /**
     * Asks for the size of the suspected parts, one after another. The first that may be too large is reported, and
     * ends the request with MARSHALLINGERROR. If there is none, runs {@code harmless}.
     */
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

    /** Sends writes together, or reads together. ZooKeeper allows no mixture of the two. */
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

    /** Sends a multi-read, once no part of it is suspected any more. */
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
            knowsMultiReads &= answer.code() != Code.UNIMPLEMENTED; // stays false whatever is answered later
            List<OpResult> results = answer.valueOrNull();
            for (int i = 0; results != null && i < results.size(); i++) {
                if (results.get(i) instanceof GetChildrenResult list) {
                    learn(parts.get(i), list.getChildren());
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

    /** The operation with a persistent node, if it creates a container. */
    private static Op withoutContainer(Op operation) {
        return makesContainer(operation) && operation.toRequestRecord() instanceof CreateRequest create
                ? Op.create(operation.getPath(), create.getData(), create.getAcl(), CreateMode.PERSISTENT)
                : operation;
    }

    private static boolean makesContainer(Op operation) {
        return operation.getType() == OpCode.createContainer;
    }

    /** Sends writes as one request, unless it is too large, or two connections were lost with requests that large. */
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
            boolean isCut = isFirstLost(answer, sentOn); // for any write: a container lost after it is not the first
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

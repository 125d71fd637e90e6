// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.session.LargePackets.NodePart;
import dev.zkrecipes.core.internal.session.LargePackets.Part;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ForwardingOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;

/**
 * The operations of a session, without container nodes where there are none, see {@link Containers}, and without those
 * that its connection would not survive, as {@link LargePackets} knows them. Such a one is answered with
 * MARSHALLINGERROR, ZooKeeper's own code for what it cannot put into a packet, and with what is known of the node.
 *
 * <p>A short request for the node's metadata takes the place of a suspected read, so answers keep their order. If that
 * clears it, the read counts as lost with the connection once more; the caller asks again, and then it is sent.
 *
 * <p>A server that does not know a request says so and cuts the connection. So once that has happened to a multi-read,
 * multi-reads are answered UNIMPLEMENTED here for the rest of the session. It says so at once, even before it answers
 * what was sent earlier, and the client does not read an answer out of order: it gives the connection up, and nobody
 * learns why. So a multi-read that was lost is sent again only when everything before it is answered.
 */
public final class MeasuredOperations implements ForwardingOperations {
    private final ZooKeeperOperations inner;
    private final EngineScheduler scheduler;
    private final LargePackets packets;
    private final Containers containers;
    private final int limit;
    private long connection; // the one that stands or, while none does, the next one, which takes what is given now
    private long lastBegun; // 0 before the first
    private boolean knowsMultiReads = true; // unless the server said no, as before 3.6
    private boolean lostMultiRead; // and none was answered since

    private MeasuredOperations(
            ZooKeeperOperations inner, EngineScheduler scheduler, LargePackets packets, Containers containers) {
        this.inner = inner;
        this.scheduler = scheduler;
        this.packets = packets;
        this.containers = containers;
        this.limit = PacketLimit.of(inner);
        this.connection = packets.newConnection();
        note(inner.initialState());
    }

    /** Opens sessions that share what the client has learnt. */
    public static Factory factory(
            Factory inner, EngineScheduler scheduler, LargePackets packets, Containers containers) {
        return states -> {
            List<MeasuredOperations> opened = new ArrayList<>();
            opened.add(new MeasuredOperations(
                    inner.open(state -> {
                        opened.forEach(operations -> operations.note(state));
                        states.accept(state);
                    }),
                    scheduler,
                    packets,
                    containers));
            return opened.get(0);
        };
    }

    private void note(State state) {
        if (state == State.CONNECTED) {
            lastBegun = connection;
        } else if (connection == lastBegun) {
            connection = packets.newConnection();
        }
    }

    /**
     * Whether a request was lost with the connection that it was given for; not if that one never came about. A loss is
     * known sooner than the change of the state, which may not be told at all: later requests go over the next
     * connection.
     */
    private boolean isLost(Answer<?> answer, long sentOn) {
        boolean lost = answer.code() == Code.CONNECTIONLOSS && sentOn <= lastBegun;
        if (lost && connection == sentOn) {
            connection = packets.newConnection();
            lastBegun = connection;
        }
        return lost;
    }

    private void note(Answer<?> answer, long sentOn, List<NodePart> what) {
        if (isLost(answer, sentOn)) {
            what.forEach(each -> packets.lost(each, sentOn));
        } else if (!answer.isUnsettled()) {
            what.forEach(packets::answered);
        }
    }

    /** For all that is short. */
    @Override
    public ZooKeeperOperations inner() {
        return inner;
    }

    // ---- Reads, whose answers may be too large.

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        if (!packets.hasSuspects()) {
            childrenUnsuspected(path, reply);
            return;
        }
        read(
                List.of(new NodePart(Part.CHILDREN, path)),
                stat -> refused(new Children(List.of(), stat)),
                answered -> inner.children(path, answered),
                answer -> {
                    if (answer.isOk()) {
                        packets.listed(path, answer.value().names());
                    }
                    reply.accept(answer);
                });
    }

    /** The same while nothing at all is suspected: what every acquire pays for. */
    private void childrenUnsuspected(String path, Consumer<Answer<Children>> reply) {
        long sentOn = connection;
        inner.children(path, answer -> {
            if (answer.isOk()) {
                packets.listed(path, answer.value().names());
            } else {
                note(answer, sentOn, List.of(new NodePart(Part.CHILDREN, path)));
            }
            reply.accept(answer);
        });
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        read(
                data(path),
                stat -> refused(new Content(new byte[0], stat)),
                answered -> inner.read(path, answered),
                reply);
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        read(
                data(path),
                stat -> refused(new Content(new byte[0], stat)),
                answered -> inner.readAndWatch(path, watch, answered),
                reply);
    }

    /** With what is known of the node, for the message. */
    private static <T> Answer<T> refused(T known) {
        return new Answer<>(Code.MARSHALLINGERROR, known);
    }

    private static List<NodePart> data(String path) {
        return List.of(new NodePart(Part.DATA, path));
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        if (operations.stream().allMatch(operation -> operation.getKind() == Op.OpKind.READ)) {
            readTogether(operations, reply);
        } else {
            write(operations, reply);
        }
    }

    private void readTogether(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        if (!knowsMultiReads) {
            scheduler.execute(() -> reply.accept(Answer.failed(Code.UNIMPLEMENTED)));
            return;
        }
        if (!lostMultiRead) {
            sendTogether(operations, reply);
            return;
        }
        inner.acl(
                operations.get(0).getPath(),
                answer -> { // its answer comes behind all others, whatever it says
                    if (answer.isUnsettled()) {
                        reply.accept(Answer.failed(answer.code()));
                    } else {
                        sendTogether(operations, reply);
                    }
                });
    }

    private void sendTogether(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        List<NodePart> what = operations.stream()
                .map(read ->
                        new NodePart(read.getType() == OpCode.getChildren ? Part.CHILDREN : Part.DATA, read.getPath()))
                .toList();
        this.<List<OpResult>>read(
                what,
                stat -> Answer.failed(Code.MARSHALLINGERROR),
                answered -> inner.multi(operations, answered),
                answer -> {
                    knowsMultiReads &= answer.code() != Code.UNIMPLEMENTED; // another may have been under way
                    lostMultiRead = answer.code() == Code.CONNECTIONLOSS;
                    List<OpResult> results = answer.valueOrNull();
                    for (int i = 0; results != null && i < results.size(); i++) {
                        if (results.get(i) instanceof GetChildrenResult list) {
                            packets.listed(what.get(i).path(), list.getChildren());
                        }
                    }
                    reply.accept(answer);
                });
    }

    private <T> void read(
            List<NodePart> what,
            Function<Stat, Answer<T>> refusal,
            Consumer<Consumer<Answer<T>>> send,
            Consumer<Answer<T>> reply) {
        List<NodePart> suspects = what.stream().filter(packets::isSuspect).toList();
        if (!suspects.isEmpty()) {
            examine(suspects, 0, Answer.failed(Code.CONNECTIONLOSS), refusal, reply);
            return;
        }
        long sentOn = connection;
        send.accept(answer -> {
            note(answer, sentOn, what);
            reply.accept(answer);
        });
    }

    private <T> void examine(
            List<NodePart> suspects,
            int next,
            Answer<T> found,
            Function<Stat, Answer<T>> refusal,
            Consumer<Answer<T>> reply) {
        NodePart suspect = suspects.get(next);
        inner.acl(suspect.path(), answer -> {
            Answer<T> worse = found;
            if (!answer.isOk()) {
                worse = Answer.failed(answer.code());
                if (answer.code() == Code.NONODE) {
                    packets.answered(suspect);
                }
            } else if (packets.convicts(suspect, answer.value().stat(), limit)) {
                worse = refusal.apply(answer.value().stat());
            }
            if (worse.code() == Code.MARSHALLINGERROR || next + 1 == suspects.size()) {
                reply.accept(worse);
            } else {
                examine(suspects, next + 1, worse, refusal, reply);
            }
        });
    }

    // ---- Writes: containers, where there are any, and what may be too large itself.

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        if (containers.areUnused()) {
            createPersistent(path, acl, reply);
            return;
        }
        long sentOn = connection;
        inner.createContainer(path, acl, answer -> {
            containers.note(answer, isLost(answer, sentOn), sentOn);
            if (answer.code() == Code.UNIMPLEMENTED) {
                createPersistent(path, acl, reply);
            } else {
                reply.accept(answer);
            }
        });
    }

    private void createPersistent(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        List<Op> create = List.of(Op.create(path, new byte[0], acl, CreateMode.PERSISTENT));
        inner.multi(create, answer -> reply.accept(new Answer<>(answer.code(), path, answer.cause())));
    }

    /** The same operations with a persistent node in place of each container. */
    private static List<Op> withoutContainers(List<Op> operations) {
        return operations.stream()
                .map(each -> makesContainer(each) && each.toRequestRecord() instanceof CreateRequest create
                        ? Op.create(each.getPath(), create.getData(), create.getAcl(), CreateMode.PERSISTENT)
                        : each)
                .toList();
    }

    private static boolean makesContainer(List<Op> operations) {
        for (int i = 0; i < operations.size(); i++) {
            if (makesContainer(operations.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean makesContainer(Op operation) {
        return operation.getType() == OpCode.createContainer;
    }

    private void write(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        boolean makesContainer = makesContainer(operations);
        if (makesContainer && containers.areUnused()) {
            write(withoutContainers(operations), reply);
            return;
        }
        int size = PacketLimit.sizeOf(operations);
        if (packets.forbids(size, limit)) {
            scheduler.execute(() -> reply.accept(Answer.failed(Code.MARSHALLINGERROR)));
            return;
        }
        long sentOn = connection;
        inner.multi(operations, answer -> {
            boolean lost = isLost(answer, sentOn);
            if (lost || !answer.isUnsettled()) {
                packets.sent(size, lost, sentOn);
            }
            if (makesContainer) {
                containers.note(answer, lost, sentOn);
            }
            reply.accept(answer);
        });
    }
}

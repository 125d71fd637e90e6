// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.PacketTooLargeException;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;

/**
 * The create of one node, or of several by one {@code multi}, sent once.
 *
 * <p>The answer to a {@code multi} does not tell the transaction's id, which the fencing token is made of: a create in
 * it is answered with the path alone. A write of data is answered with a Stat; so the {@code multi} also makes a node,
 * writes to it and deletes it. Nobody ever sees that one.
 */
public final class CreateNodes {
    private static final String PROBE = "-zxid";

    /** Enough for the node that nobody sees, in the request. */
    private static final int ROOM_FOR_PROBE = 4096;

    private final Requests requests;
    private final LockGroup group;
    private final Session session;
    private final List<OwnNode> nodes;

    public CreateNodes(Requests requests, LockGroup group, Session session) {
        this.requests = requests;
        this.group = group;
        this.session = session;
        this.nodes = new ArrayList<>(group.all().size());
        for (int i = 0; i < group.all().size(); i++) {
            nodes.add(new OwnNode(
                    session, group.all().get(i), requests.scheduler().random()));
        }
        if (nodes.size() > 1) {
            nodes.forEach(node -> node.createdTogether(nodes));
        }
    }

    /** The nodes, in the order of the group. */
    public List<OwnNode> nodes() {
        return nodes;
    }

    /**
     * Sends it; the answer is noted in the nodes before it is passed on.
     *
     * @throws LockException if that would be too much for the session or for one request; nothing is sent
     */
    public void send(Consumer<Answer<?>> done) {
        if (nodes.size() == 1) {
            admit();
            long sentAt = requests.scheduler().nanoTime();
            OwnNode node = nodes.get(0);
            List<ACL> acl = group.all().get(0).acl();
            long newest = requests.newest();
            session.zk().createEphemeralSequential(node.prefix(), data(0), acl, answer -> {
                if (answer.isOk()) {
                    long zxid = answer.value().stat().getCzxid();
                    node.createdAt(answer.value().path(), zxid);
                    requests.made(node, zxid, newest);
                    session.committed(sentAt);
                } else {
                    node.failed(answer.code());
                }
                done.accept(answer);
            });
        } else {
            sendTogether(done);
        }
    }

    private byte[] data(int index) {
        return requests.nodeData(group.all().get(index), group.options());
    }

    /** Counts the nodes, or refuses them. */
    private void admit() {
        try {
            long size = 0;
            for (int i = 0; i < nodes.size(); i++) {
                size += nodes.get(i).sizeAtEnd();
            }
            session.nodes().requireRoom(this::describe, size);
            requireSmall();
            nodes.forEach(OwnNode::count);
        } catch (LockException e) {
            nodes.forEach(OwnNode::absent);
            throw e;
        }
    }

    /** Not all paths of hundreds. */
    private String describe() {
        String first = nodes.get(0).lockPath();
        return nodes.size() == 1 ? first : first + " and " + (nodes.size() - 1) + " more";
    }

    private void requireSmall() {
        int limit = session.nodes().packetLimit() - ROOM_FOR_PROBE;
        if (atMost() <= limit) {
            return;
        }
        int size = PacketLimit.sizeOf(creates());
        if (size > limit) {
            throw new PacketTooLargeException("lock " + describe() + ": the request for "
                    + (nodes.size() == 1 ? "its node" : nodes.size() + " nodes") + " takes " + size
                    + " bytes and must not exceed " + limit
                    + " (jute.maxbuffer): ask for fewer locks at once, use shorter paths or a shorter ACL, or raise"
                    + " jute.maxbuffer on all servers and clients");
        }
    }

    /** Slightly more than the creates take, without writing them down. */
    private long atMost() {
        long size = PacketLimit.REQUEST_HEADER;
        for (int i = 0; i < nodes.size(); i++) {
            size += PacketLimit.mostOfCreate(
                    nodes.get(i).prefix(), data(i), group.all().get(i).acl());
        }
        return size;
    }

    /**
     * The same by a {@code multi} in any case, which is refused as a whole, without a trace, unless the client may also
     * delete there: see the node that nobody sees. A server that refuses writes before their turn
     * ({@code enableEagerACLCheck}), at the cost of the connection, does not do so with a {@code multi}.
     */
    public void sendTogether(Consumer<Answer<?>> done) {
        admit();
        long sentAt = requests.scheduler().nanoTime();
        long newest = requests.newest();
        session.zk().multi(operations(), answer -> {
            note(answer, sentAt, newest);
            done.accept(answer);
        });
    }

    private List<Op> creates() {
        List<Op> operations = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            List<ACL> acl = group.all().get(i).acl();
            operations.add(Op.create(nodes.get(i).prefix(), data(i), acl, CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        return operations;
    }

    private List<Op> operations() {
        List<Op> operations = creates();
        String probe = LockPath.child(
                nodes.get(0).lockPath(), NodeId.next(requests.scheduler().random()) + PROBE);
        operations.add(Op.create(probe, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        operations.add(Op.setData(probe, new byte[0], -1));
        operations.add(Op.delete(probe, -1));
        return operations;
    }

    private void note(Answer<List<OpResult>> answer, long sentAt, long newest) {
        if (!answer.isOk()) {
            nodes.forEach(node -> node.failed(answer.code()));
            return;
        }
        session.committed(sentAt);
        List<OpResult> results = answer.value();
        long zxid = ((SetDataResult) results.get(nodes.size() + 1)).getStat().getMzxid();
        for (int i = 0; i < nodes.size(); i++) {
            // Only the name: under a chroot the client does not take the chroot off the paths in these results.
            nodes.get(i).created(LockPath.name(((CreateResult) results.get(i)).getPath()), zxid);
        }
        requests.made(nodes.get(0), zxid, newest);
    }
}

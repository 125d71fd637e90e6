// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.clean.ParentMaker;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.KeptView;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The create of one node, or of several by one {@code multi}, all or none; and what a request asks about its nodes
 * and their paths until it waits. A create is sent once. Confined to the engine thread.
 *
 * <p>A fencing token is made of the id of the transaction that created the node. The answer to a {@code multi} does
 * not tell this id: for a create in it, the answer is the path alone. For a write of data the answer is a
 * {@code Stat}, which has the id. So the {@code multi} also makes a node, writes to it and deletes it. Nobody ever
 * sees this node, the probe.
 */
final class CreateNodes {
    private static final String PROBE = "-zxid";

    /** The bytes of a request that are kept free for the probe. */
    private static final int ROOM_FOR_PROBE = 4096;

    private final Requests requests;
    private final LockGroup group;
    private final Session session;
    private final List<String> holds;
    private final List<LockSpec> specs;
    final List<OwnNode> nodes; // one for each lock, in their order
    private final List<byte[]> data; // of the nodes
    private @Nullable List<LockNode> parsed; // the nodes as their drivers read them
    private final List<KeptView> views = new ArrayList<>(0); // of the paths; none if a lock has an ACL of its own
    private boolean isFirstUse; // whether the session has no view of any of the paths
    private @Nullable ChildrenSnapshot made; // the queues, if they were made together with the nodes
    private final List<ParentMaker> parents; // makers of the paths; none before a path was missing

    /** {@code holds} are the paths of nodes that the asking thread holds. */
    CreateNodes(Requests requests, LockGroup group, Session session, List<String> holds) {
        this(requests, group, session, holds, new ArrayList<>(0));
    }

    private CreateNodes(
            Requests requests, LockGroup group, Session session, List<String> holds, List<ParentMaker> parents) {
        this.requests = requests;
        this.group = group;
        this.session = session;
        this.holds = holds;
        this.parents = parents;
        this.specs = group.all();
        this.nodes = new ArrayList<>(specs.size());
        this.data = new ArrayList<>(specs.size());
        for (LockSpec spec : specs) {
            nodes.add(new OwnNode(session, spec, requests.scheduler().random()));
            data.add(requests.nodeData(spec, group.options(), holds));
        }
        if (nodes.size() > 1) {
            // If the cleaner finds one of them later, it looks for the others, too.
            nodes.forEach(node -> node.createdTogether(nodes));
        }
        nameParents();
    }

    /**
     * Tells each node which maker has made its path: if the node is never made, the cleaner deletes unused
     * containers.
     */
    private void nameParents() {
        for (int i = 0; i < parents.size(); i++) {
            nodes.get(i).madeBelow(parents.get(i));
        }
    }

    /** A create of new nodes for the same locks, with ids of their own. */
    CreateNodes anew() {
        return new CreateNodes(requests, group, session, holds, parents);
    }

    /** Whether a node is known to have been made. As the nodes are made together, all of them were. */
    boolean hasNode() {
        return nodes.stream().anyMatch(node -> node.existence() == OwnNode.Existence.CREATED);
    }

    /**
     * The nodes as their drivers read them. To be called when their names are known, which then do not change any
     * more.
     */
    List<LockNode> parsed() {
        List<LockNode> known = parsed;
        if (known == null) {
            known = new ArrayList<>(nodes.size());
            Iterator<OwnNode> each = nodes.iterator();
            for (LockSpec spec : specs) {
                known.add(spec.parseOwn(each.next().name()));
            }
            parsed = known; // only when all are there: a driver may throw
        }
        return known;
    }

    /** The first node whose number is too near the end of its path's counter; null if there is none. */
    @Nullable
    OwnNode nodeNearTheEnd() {
        for (OwnNode node : nodes) {
            if (OwnNode.numberOf(node.path()) >= OwnNode.WORN_OUT) {
                return node;
            }
        }
        return null;
    }

    // ---- The create.

    /**
     * Sends the create. The answer is noted in the nodes before it is passed on. Throws, and sends nothing, if the
     * nodes would be too much for the session or for one request.
     */
    void send(Consumer<Answer<?>> done) {
        if (nodes.size() == 1) {
            admit();
            long sentAt = requests.scheduler().nanoTime();
            OwnNode node = nodes.get(0);
            List<ACL> acl = specs.get(0).acl();
            long newest = requests.newest();
            session.zk().createEphemeralSequential(node.prefix(), data.get(0), acl, answer -> {
                if (answer.isOk()) {
                    long zxid = answer.value().stat().getCzxid();
                    node.createdAt(answer.value().path(), zxid);
                    noteInViews(0);
                    requests.made(node, zxid, newest);
                    session.committed(sentAt);
                } else {
                    onFailed(answer.code());
                }
                done.accept(answer);
            });
        } else {
            sendTogether(done);
        }
    }

    /**
     * Counts the nodes, or refuses them: the server has to name all nodes of a session in one record when the session
     * ends.
     */
    private void admit() {
        try {
            long size = 0;
            for (OwnNode node : nodes) {
                size += node.sizeAtEnd();
            }
            session.nodes().requireRoom(this::describe, size);
            requireSmall();
            nodes.forEach(OwnNode::count);
        } catch (LockException e) {
            nodes.forEach(OwnNode::absent);
            throw e;
        }
    }

    /** Names the first path only, as there may be hundreds. */
    private String describe() {
        String first = nodes.get(0).lockPath();
        return nodes.size() == 1 ? first : first + " and " + (nodes.size() - 1) + " more";
    }

    /** Refuses a request that would not fit into one packet. */
    private void requireSmall() {
        int limit = session.nodes().packetLimit() - ROOM_FOR_PROBE;
        long size = PacketLimit.AROUND_OPERATIONS;
        for (int i = 0; i < nodes.size(); i++) {
            size += PacketLimit.sizeOfCreate(
                    nodes.get(i).prefix(), data.get(i), specs.get(i).aclSize());
        }
        if (size > limit) {
            throw new LockLimitException("lock " + describe() + ": the request for "
                    + (nodes.size() == 1 ? "its node" : nodes.size() + " nodes") + " takes " + size
                    + " bytes and must not exceed " + limit
                    + " (jute.maxbuffer): ask for fewer locks at once, use shorter paths or a shorter ACL, or raise"
                    + " jute.maxbuffer on all servers and clients");
        }
    }

    /**
     * Sends the create as a {@code multi}, even for one node. Because of the probe, ZooKeeper refuses it as a whole,
     * without a trace, unless the client may also delete there. Some servers refuse writes before their turn, at the
     * cost of the connection ({@code enableEagerACLCheck}); they do not do so with a {@code multi}.
     */
    void sendTogether(Consumer<Answer<?>> done) {
        admit();
        long sentAt = requests.scheduler().nanoTime();
        long newest = requests.newest();
        session.zk().multi(operations(), answer -> {
            note(answer, sentAt, newest);
            done.accept(answer);
        });
    }

    private List<Op> operations() {
        List<Op> operations = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            List<ACL> acl = specs.get(i).acl();
            operations.add(Op.create(nodes.get(i).prefix(), data.get(i), acl, CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        String probe = LockPath.child(
                nodes.get(0).lockPath(), NodeId.next(requests.scheduler().random()) + PROBE);
        operations.add(Op.create(probe, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        operations.add(Op.setData(probe, new byte[0], -1));
        operations.add(Op.delete(probe, -1));
        return operations;
    }

    private void note(Answer<List<OpResult>> answer, long sentAt, long newest) {
        if (!answer.isOk()) {
            onFailed(answer.code());
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
        noteInViews(1); // the probe
    }

    /** {@code more} is how many nodes the same request has created behind ours, below the first path. */
    private void noteInViews(int more) {
        for (int i = 0; i < views.size(); i++) {
            String name = nodes.get(i).name();
            views.get(i).onCreated(name, OwnNode.numberOf(name), i == 0 ? more : 0);
        }
        if (isFirstUse && parents.isEmpty()) { // and the paths were not made for this request
            specs.forEach(spec -> session.newPaths().onThere(spec.path()));
        }
    }

    private void onFailed(Code code) {
        nodes.forEach(node -> node.failed(code));
        if (code == Code.NONODE) {
            specs.forEach(spec -> {
                session.keptViews().remove(spec.path());
                session.newPaths().onMissing(spec.path());
            });
        } else {
            views.forEach(KeptView::forget);
        }
    }

    // ---- Paths that are made together with the nodes.

    /**
     * Whether the paths, if they are missing, are made by the same request as the nodes below them. A request that has
     * begun to make them one by one goes on like that.
     */
    boolean mayMakePaths() {
        return parents.isEmpty()
                && session.hasContainers()
                && specs.stream()
                        .allMatch(
                                spec -> !spec.hasOwnAcl() && session.newPaths().isMadeWithNode(spec.path()));
    }

    /** Whether the paths are probably missing. To be called after {@link #knowsQueues}. */
    boolean expectsNewPaths() {
        return isFirstUse
                && specs.stream().allMatch(spec -> session.newPaths().isLikely(spec.path()))
                && mayMakePaths();
    }

    /**
     * Creates the paths and the nodes below them by one {@code multi}. It is refused, without a trace, if one of the
     * paths is there. If it succeeds, nobody else stands in the queues, so no list is needed: they are {@link #made}.
     */
    void sendWithPaths(Consumer<Answer<?>> done) {
        admit();
        useViews();
        List<Op> operations = new ArrayList<>();
        List<Optional<byte[]>> rules = specs.stream().map(LockSpec::initialRule).toList();
        for (int i = 0; i < nodes.size(); i++) {
            LockSpec spec = specs.get(i);
            if (rules.get(i).isPresent()) {
                byte[] rule = rules.get(i).get();
                operations.add(Op.create(spec.path(), rule, spec.acl(), CreateMode.PERSISTENT));
                operations.add(Op.setData(spec.path(), rule, 0)); // its answer tells the metadata of the path
            } else {
                operations.add(Op.create(spec.path(), new byte[0], spec.acl(), CreateMode.CONTAINER));
            }
            operations.add(Op.create(nodes.get(i).prefix(), data.get(i), spec.acl(), CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        long sentAt = requests.scheduler().nanoTime();
        long newest = requests.newest();
        session.zk().multi(operations, answer -> {
            if (answer.isOk()) {
                session.committed(sentAt);
                noteMade(rules, answer.value().iterator());
                requests.made(nodes.get(0), nodes.get(0).czxid(), newest);
            } else {
                onFailed(answer.code());
                if (answer.code() != Code.NONODE) {
                    specs.forEach(spec -> session.newPaths().onRefused(spec.path()));
                }
            }
            done.accept(answer);
        });
    }

    /** Notes the nodes, and the queues in which each of them is alone. */
    private void noteMade(List<Optional<byte[]>> rules, Iterator<OpResult> results) {
        List<ChildrenSnapshot> queues = new ArrayList<>(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            OpResult path = results.next();
            Stat stat = rules.get(i).isPresent()
                    ? ((SetDataResult) results.next()).getStat()
                    : ((CreateResult) path).getStat(); // that of a container comes with the answer
            OwnNode node = nodes.get(i);
            node.created(LockPath.name(((CreateResult) results.next()).getPath()), stat.getMzxid());
            views.get(i).onMade(node.name(), OwnNode.numberOf(node.name()));
            queues.add(ChildrenSnapshot.known(
                    specs.get(i).path(),
                    List.of(node.name()),
                    rules.get(i).map(rule -> new Content(rule, stat)),
                    session.lists().answers()));
        }
        made = ChildrenSnapshot.together(queues);
    }

    /** The queues as they were when the paths were made. */
    ChildrenSnapshot made() {
        return Preconditions.checkNotNull(made, "paths not made");
    }

    // ---- What is known of the queues without a list.

    /**
     * Whether the queues of all paths are known, so that no list is needed behind the create. To be called before the
     * create is sent: a path that is used again is watched from now on, before what follows.
     */
    boolean knowsQueues() {
        useViews();
        return areQueuesKnown();
    }

    private void useViews() {
        if (views.isEmpty() && specs.stream().noneMatch(LockSpec::hasOwnAcl)) { // no event tells of a changed ACL
            specs.forEach(spec -> views.add(session.keptViews().use(spec.path())));
            isFirstUse = views.stream().allMatch(KeptView::isNew);
        }
    }

    /** Whether the queues are known without a list. */
    boolean areQueuesKnown() {
        for (int i = 0; i < views.size(); i++) {
            KeptView view = views.get(i);
            if (!view.isKnown() || (specs.get(i).hasSharedRule() && view.rule().isEmpty())) {
                return false;
            }
        }
        return !views.isEmpty();
    }

    /** The queues, if they are known without a list. */
    ChildrenSnapshot known() {
        return ChildrenSnapshot.together(views.stream()
                .map(view -> view.queue(session.lists().answers()))
                .toList());
    }

    /** Keeps what a list has shown that was taken after the create. */
    void keep(ChildrenSnapshot list) {
        for (int i = 0; i < views.size() && list.code() == Code.OK; i++) {
            views.get(i).onListed(list, nodes.get(i).name());
        }
    }

    // ---- The paths.

    /** Makes the path of one lock. What was found out about the ACL of an earlier path is forgotten. */
    void makePath(int index, Consumer<Answer<?>> done) {
        if (parents.isEmpty()) {
            specs.forEach(spec -> parents.add(new ParentMaker(session, spec.acl())));
            nameParents();
        }
        LockSpec spec = specs.get(index);
        session.checkedAcls().forget(spec);
        parents.get(index).make(spec.path(), spec.initialRule(), done);
    }

    /** Whether it is known that the client has the rights that the locks' own ACLs name. */
    boolean knowsRights() {
        for (LockSpec spec : specs) {
            if (!session.checkedAcls().knows(spec)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the paths in this list are the very ones whose ACLs were found right. */
    boolean isAsChecked(ChildrenSnapshot list) {
        for (LockSpec spec : specs) {
            if (!session.checkedAcls().isAsChecked(spec, list.stat(spec.path()))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Compares the ACL of each path that is to have one of its own with that of our node, which was created with it.
     */
    void checkAcls(Consumer<Answer<Optional<LockAccessException>>> done) {
        for (int i = 0; i < nodes.size(); i++) {
            LockSpec spec = specs.get(i);
            if (spec.hasOwnAcl()) {
                session.checkedAcls().check(spec, nodes.get(i).path(), done);
            }
        }
    }

    // ---- What became of a create that got no answer.

    /** Notes the names of our nodes that this list shows, and returns the nodes that it does not show. */
    List<OwnNode> noteFound(ChildrenSnapshot list) {
        List<OwnNode> missing = new ArrayList<>();
        for (OwnNode node : nodes) {
            list.names(node.lockPath()).stream()
                    .filter(node::isOurs)
                    .findFirst()
                    .ifPresentOrElse(name -> node.created(name, 0), () -> missing.add(node));
        }
        return missing;
    }

    /**
     * Reads the nodes. Answers NONODE if one of them is not there, or does not belong to this session. A failure of
     * another kind takes precedence, because then it is not known whether a node is there.
     */
    void claim(Consumer<Answer<?>> done) {
        List<Answer<?>> answers = new ArrayList<>();
        for (OwnNode node : nodes) {
            session.zk().read(node.path(), answer -> {
                answers.add(answer.isOk() ? claimed(node, answer.value().stat()) : answer);
                if (answers.size() == nodes.size()) {
                    done.accept(answers.stream()
                            .filter(each -> !each.isOk())
                            .reduce((one, other) -> one.code() == Code.NONODE ? other : one)
                            .orElse(Answer.ok(nodes)));
                }
            });
        }
    }

    private Answer<?> claimed(OwnNode node, Stat stat) {
        node.created(node.name(), stat.getCzxid());
        boolean isOurs = stat.getEphemeralOwner() == session.zk().sessionId();
        return isOurs ? Answer.ok(node) : Answer.failed(Code.NONODE);
    }
}

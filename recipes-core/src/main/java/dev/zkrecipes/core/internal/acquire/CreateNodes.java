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
 * The create of one node, or of several nodes by one {@code multi}, which creates all of them or none. Also answers
 * what the request asks about its nodes and their paths until it waits. A create is sent once. Confined to the engine
 * thread.
 *
 * <p>A fencing token is derived from the zxid of the transaction that created the node. The answer to a {@code multi}
 * does not include this zxid: the result of a create in it is only the path. The result of a write of data is a
 * {@code Stat}, which has the zxid. So the {@code multi} also creates an extra node, the probe, writes to it and
 * deletes it. Nobody ever sees the probe.
 */
final class CreateNodes {
    private static final String PROBE = "-zxid";

    /** The number of bytes of a request that are reserved for the probe. */
    private static final int ROOM_FOR_PROBE = 4096;

    private final Requests requests;
    private final LockGroup group;
    private final Session session;
    private final List<String> holds;
    private final List<LockSpec> specs;
    final List<OwnNode> nodes; // one for each lock, in the order of the locks
    private final List<byte[]> data; // the data of each node
    private @Nullable List<LockNode> parsed; // the nodes as parsed by their drivers
    // Views of the paths; none if a lock has an ACL of its own.
    private final List<KeptView> views = new ArrayList<>(0);
    private boolean isFirstUse; // whether the session uses all of these paths for the first time
    private @Nullable ChildrenSnapshot made; // the queues, if the paths were created together with the nodes
    private final List<ParentMaker> parents; // one for each path; none until a path was found to be missing
    private boolean refusedWithPaths; // whether the paths could not be created together with the nodes

    /** {@code holds} are the paths of the nodes that the requesting thread holds. */
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
     * Passes to each node the object that creates its path. If the node is never created, the cleaner asks that object
     * for unused containers and deletes them.
     */
    private void nameParents() {
        for (int i = 0; i < parents.size(); i++) {
            nodes.get(i).madeBelow(parents.get(i));
        }
    }

    /** Returns a create of new nodes for the same locks. The new nodes have ids of their own. */
    CreateNodes anew() {
        CreateNodes next = new CreateNodes(requests, group, session, holds, parents);
        next.refusedWithPaths = refusedWithPaths;
        return next;
    }

    /** Whether a node is known to have been created. If so, all of them were, as they are created together. */
    boolean hasNode() {
        return nodes.stream().anyMatch(node -> node.existence() == OwnNode.Existence.CREATED);
    }

    /**
     * Returns the nodes as parsed by their drivers. Call only once the names of the nodes are known, which do not
     * change after that.
     */
    List<LockNode> parsed() {
        List<LockNode> known = parsed;
        if (known == null) {
            known = new ArrayList<>(nodes.size());
            Iterator<OwnNode> each = nodes.iterator();
            for (LockSpec spec : specs) {
                known.add(spec.parseOwn(each.next().name()));
            }
            parsed = known; // only when complete: a driver may throw
        }
        return known;
    }

    /** Returns the first node whose number is too close to the end of its path's counter; null if there is none. */
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
     * Sends the create. The nodes record the answer before {@code done} gets it. Throws a {@link LockException}, and
     * sends nothing, if the nodes exceed a limit of the session or of one request.
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
     * Counts the nodes, or refuses them if there are too many: when a session ends, the server names all of its nodes
     * in one record.
     */
    private void admit() {
        long size = 0;
        for (OwnNode node : nodes) {
            size += node.sizeAtEnd();
        }
        session.nodes().requireRoom(this::describe, size);
        requireSmall();
        nodes.forEach(OwnNode::count);
    }

    /** Names only the first path, because there may be hundreds. */
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
     * Sends the create as a {@code multi}, even for one node. Because of the probe, ZooKeeper refuses the {@code multi}
     * as a whole, without a trace, unless the client may also delete below the path. Servers with
     * {@code enableEagerACLCheck} refuse other writes before their turn, which costs the connection, but not a
     * {@code multi}.
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
            // Only the name is used: under a chroot, ZooKeeper's client does not strip the chroot from these paths.
            nodes.get(i).created(LockPath.name(((CreateResult) results.get(i)).getPath()), zxid);
        }
        requests.made(nodes.get(0), zxid, newest);
        noteInViews(1); // counts the probe
    }

    /**
     * Records the created nodes in the views. {@code more} is how many nodes the same request has created after ours
     * below the first path.
     */
    private void noteInViews(int more) {
        for (int i = 0; i < views.size(); i++) {
            String name = nodes.get(i).name();
            views.get(i).onCreated(name, OwnNode.numberOf(name), i == 0 ? more : 0);
        }
        if (isFirstUse && parents.isEmpty()) { // the paths existed already
            specs.forEach(spec -> session.newPaths().onThere(spec.path()));
        }
    }

    private void onFailed(Code code) {
        nodes.forEach(node -> node.failed(code));
        if (code == Code.NONODE) {
            group.paths().forEach(session.keptViews()::remove);
            session.newPaths().onMissing(group.paths());
        } else {
            views.forEach(KeptView::forget);
        }
    }

    // ---- Paths that are created together with the nodes.

    /**
     * Whether missing paths are created by the same request as the nodes below them. After one refusal they are created
     * one by one: if some paths exist and others are missing, the server refuses both the nodes alone and the nodes
     * together with all of the paths.
     */
    boolean mayMakePaths() {
        return !refusedWithPaths
                && parents.isEmpty()
                && session.hasContainers()
                && specs.stream()
                        .allMatch(
                                spec -> !spec.hasOwnAcl() && session.newPaths().isMadeWithNode(spec.path()));
    }

    /** Whether the paths are probably missing. Call only after {@link #knowsQueues}. */
    boolean expectsNewPaths() {
        return isFirstUse
                && specs.stream().allMatch(spec -> session.newPaths().isLikely(spec.path()))
                && mayMakePaths();
    }

    /**
     * Creates the paths and the nodes below them by one {@code multi}. It is refused, without a trace, if one of the
     * paths exists. If it succeeds, nobody else is in the queues, so no list is needed: the queues are {@link #made}.
     */
    void sendWithPaths(Consumer<Answer<?>> done) {
        // First: a driver may throw, and then nothing is sent.
        List<Optional<byte[]>> rules = specs.stream().map(LockSpec::initialRule).toList();
        admit();
        useViews();
        List<Op> operations = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            LockSpec spec = specs.get(i);
            if (rules.get(i).isPresent()) {
                byte[] rule = rules.get(i).get();
                operations.add(Op.create(spec.path(), rule, spec.acl(), CreateMode.PERSISTENT));
                operations.add(Op.setData(spec.path(), rule, 0)); // its answer includes the metadata of the path
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
                    refusedWithPaths = true;
                    specs.forEach(spec -> session.newPaths().onRefused(spec.path()));
                }
            }
            done.accept(answer);
        });
    }

    /** Records the nodes, and the queues in which each of them is alone. */
    private void noteMade(List<Optional<byte[]>> rules, Iterator<OpResult> results) {
        List<ChildrenSnapshot> queues = new ArrayList<>(nodes.size());
        long turn = session.lists().numberOfKnown();
        for (int i = 0; i < nodes.size(); i++) {
            OpResult path = results.next();
            Stat stat = rules.get(i).isPresent()
                    ? ((SetDataResult) results.next()).getStat()
                    : ((CreateResult) path).getStat(); // the result for a container includes its metadata
            OwnNode node = nodes.get(i);
            node.created(LockPath.name(((CreateResult) results.next()).getPath()), stat.getMzxid());
            views.get(i).onMade(node.name(), OwnNode.numberOf(node.name()));
            queues.add(ChildrenSnapshot.known(
                    specs.get(i).path(),
                    List.of(node.name()),
                    rules.get(i).map(rule -> new Content(rule, stat)),
                    turn));
        }
        made = ChildrenSnapshot.together(queues);
    }

    /** Returns the queues as they were when the paths were created. */
    ChildrenSnapshot made() {
        return Preconditions.checkNotNull(made, "paths not made");
    }

    // ---- What is known of the queues without a list.

    /**
     * Whether the queues of all paths are known, so that no list is needed after the create. Call before the create is
     * sent: this begins to watch each path that is used again, and the watch has to precede the create.
     */
    boolean knowsQueues() {
        useViews();
        return areQueuesKnown();
    }

    private void useViews() {
        if (!views.isEmpty() || group.hasOwnAcl()) { // no event reports a changed ACL
            return;
        }
        isFirstUse = true;
        for (LockSpec spec : specs) {
            KeptView view = session.keptViews().use(spec.path());
            views.add(view);
            isFirstUse &= view.isNew();
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

    /** Returns the queues. Call only if they are known without a list. */
    ChildrenSnapshot known() {
        List<ChildrenSnapshot> queues = new ArrayList<>(views.size());
        long turn = session.lists().numberOfKnown();
        for (KeptView view : views) {
            queues.add(view.queue(turn));
        }
        return ChildrenSnapshot.together(queues);
    }

    /**
     * Updates the views by a list that was taken after the create. If the paths were listed one by one, all but the
     * last one may have changed since they were listed. So a view is updated only if its path was listed just now.
     */
    void keep(ChildrenSnapshot list) {
        for (int i = 0; i < views.size() && list.code() == Code.OK; i++) {
            if (list.turn(specs.get(i).path()) == session.lists().answers()) {
                views.get(i).onListed(list, nodes.get(i).name());
            }
        }
    }

    // ---- The paths.

    /** Creates the path of one lock. Forgets what is known of the ACL of an earlier node at this path. */
    void makePath(int index, Consumer<Answer<?>> done) {
        if (parents.isEmpty()) {
            specs.forEach(spec -> parents.add(new ParentMaker(session, spec.acl())));
            nameParents();
        }
        LockSpec spec = specs.get(index);
        session.checkedAcls().forget(spec);
        parents.get(index).make(spec.path(), spec.initialRule(), done);
    }

    /** Whether the client is known to have the rights that the locks' own ACLs grant. */
    boolean knowsRights() {
        for (LockSpec spec : specs) {
            if (!session.checkedAcls().knows(spec)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the paths in this list are the ones whose ACLs were found to be right, unchanged since then. */
    boolean isAsChecked(ChildrenSnapshot list) {
        for (LockSpec spec : specs) {
            if (!session.checkedAcls().isAsChecked(spec, list.stat(spec.path()))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Compares the ACL of each path that should have its own with the ACL of our node, which was created with the
     * lock's ACL.
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

    /** Records the names of our nodes that this list shows. Returns the nodes that it does not show. */
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
     * Reads the nodes to find out whether they are ours. Answers NONODE if one of them does not exist or belongs to
     * another session. A failure of another kind takes precedence, because then it is not known whether the node
     * exists.
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

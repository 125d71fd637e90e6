// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.AclCheck;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.node.ParentMaker;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionTask;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * How an attempt gets its nodes into the queues, in one session: create them and list in one round trip, make the paths
 * if there are none, and find out what became of a create after a lost answer. One {@code multi} creates several nodes,
 * so there are all of them or none. Confined to the engine thread.
 */
public final class Enqueue {

    /** The attempt, as its entry sees it. */
    public interface Owner {
        /** The nodes were made, proven by a write that was committed just now; the list was taken after that. */
        void onEntered(ChildrenSnapshot list);

        /** The nodes were made, and one is gone again. */
        void onVanished();

        /** A request got no answer, or a refusal: pause and do {@code again}, or fail. */
        void retryOrFail(String what, Answer<?> answer, Runnable again);

        /** Something is wrong that waiting does not fix. */
        void fail(LockException why);
    }

    private final Requests requests;
    private final LockGroup group;
    private final Session session;
    private final SessionTask<AcquireStep> task;
    private final Owner owner;
    private List<ParentMaker> parents = List.of(); // makers of the paths; none before one was missing
    private CreateNodes creation;

    public Enqueue(Requests requests, LockGroup group, Session session, SessionTask<AcquireStep> task, Owner owner) {
        this.requests = requests;
        this.group = group;
        this.session = session;
        this.task = task;
        this.owner = owner;
        this.creation = newCreation();
    }

    private CreateNodes newCreation() {
        CreateNodes made = new CreateNodes(requests, group, session);
        nameParents(made);
        return made;
    }

    private void nameParents(CreateNodes made) {
        for (int i = 0; i < parents.size(); i++) {
            made.nodes().get(i).madeBelow(parents.get(i));
        }
    }

    /** The nodes of the last create, in the order of the group. */
    public List<OwnNode> nodes() {
        return creation.nodes();
    }

    /** Whether a node is known to have been made, and so all, as they are made together. */
    boolean hasNode() {
        return nodes().stream().anyMatch(node -> node.existence() == OwnNode.Existence.CREATED);
    }

    /**
     * Sends the create and, without waiting for the answer, the list: the server answers one after the other. As long
     * as it is not known whether the client has the rights that the lock's own ACL names, they are sent one after the
     * other.
     */
    public void create() {
        task.become(AcquireStep.ENQUEUEING);
        if (knowsRights()) {
            creation.send(task.inThisState(this::onCreated));
            // If the create fails, the step has changed by the time this answer comes.
            session.lists().ask(group.query(), task.inThisState(this::onListed));
        } else {
            creation.sendTogether(task.inThisState(answer -> {
                onCreated(answer);
                if (answer.isOk()) {
                    checkAccess();
                }
            }));
        }
    }

    private boolean knowsRights() {
        for (int i = 0; i < group.all().size(); i++) {
            LockSpec spec = group.all().get(i);
            if (spec.hasOwnAcl() && !session.checkedAcls().knows(spec.path(), spec.acl())) {
                return false;
            }
        }
        return true;
    }

    private boolean isAsChecked(ChildrenSnapshot list) {
        for (LockSpec spec : group.all()) {
            if (spec.hasOwnAcl()
                    && !session.checkedAcls().isAsChecked(spec.path(), spec.acl(), list.stat(spec.path()))) {
                return false;
            }
        }
        return true;
    }

    /** The nodes are there, and the list was taken after that. */
    private void onListed(ChildrenSnapshot list) {
        if (list.code() != Code.OK || isAsChecked(list)) {
            owner.onEntered(list);
        } else {
            checkAccess();
        }
    }

    /** Compares the paths with the nodes, which keep them from being replaced meanwhile, and lists again. */
    private void checkAccess() {
        task.become(AcquireStep.CHECKING_ACL);
        for (int i = 0; i < nodes().size(); i++) {
            LockSpec spec = group.all().get(i);
            if (spec.hasOwnAcl()) {
                new AclCheck(session, spec, nodes().get(i)).send(task.inThisState(this::onAccessChecked));
            }
        }
        session.lists().ask(group.query(), task.inThisState(this::onListed));
    }

    private void onAccessChecked(AclCheck check) {
        Answer<?> answer = check.answer();
        switch (answer.code()) {
            case OK -> check.refusal().ifPresent(owner::fail);
            case NONODE -> owner.onVanished();
            default -> owner.retryOrFail("read the ACLs of the lock path and its nodes", answer, this::settle);
        }
    }

    private void onCreated(Answer<?> answer) {
        switch (answer.code()) {
            case OK -> {}
            case NONODE -> {
                if (parents.isEmpty()) {
                    parents = group.all().stream()
                            .map(spec -> new ParentMaker(session, spec.acl()))
                            .toList();
                    nameParents(creation);
                }
                makePaths(0);
            }
            default -> owner.retryOrFail("create a node below " + group.path(), answer, this::settle);
        }
    }

    private void makePaths(int from) {
        if (from == group.all().size()) {
            createAnew();
            return;
        }
        task.become(AcquireStep.MAKING_PATH);
        LockSpec spec = group.all().get(from);
        session.checkedAcls().forget(spec.path(), spec.acl());
        parents.get(from).make(spec.path(), spec.initialRule(), task.inThisState(answer -> {
            switch (answer.code()) {
                case OK -> makePaths(from + 1);
                case NONODE ->
                    owner.fail(new LockException(requests.rootName() + " does not exist, so the lock " + spec.path()
                            + " cannot be made; create the chroot node first"));
                default -> owner.retryOrFail(ZooKeeperErrors.CREATE_PATH + spec.path(), answer, this::createAnew);
            }
        }));
    }

    /** With new node objects: every create has ids of its own. */
    private void createAnew() {
        creation = newCreation();
        create();
    }

    /** Finds out what became of a create after a lost answer. */
    private void settle() {
        task.become(AcquireStep.SETTLING);
        session.lists().askBehindWrite(group.query(), task.inThisState(list -> {
            switch (list.code()) {
                case OK, NONODE -> adoptOrCreate(list);
                default -> owner.retryOrFail("list " + group.path(), list.answer(), this::settle);
            }
        }));
    }

    private void adoptOrCreate(ChildrenSnapshot list) {
        boolean wasThere = hasNode();
        List<OwnNode> found = new ArrayList<>();
        for (OwnNode node : nodes()) {
            Optional<String> name =
                    list.names(node.lockPath()).stream().filter(node::isOurs).findFirst();
            if (name.isPresent()) {
                node.created(name.get(), 0);
                found.add(node);
            }
        }
        if (found.size() == nodes().size()) {
            adopt();
        } else if (wasThere) {
            nodes().stream().filter(node -> !found.contains(node)).forEach(OwnNode::absent);
            owner.onVanished(); // they were made together, so somebody has deleted what is missing
        } else if (found.isEmpty()) {
            nodes().forEach(requests.cleaner()::missed);
            createAnew();
        } else {
            settle(); // some paths may have been listed just before the nodes were made, and others just after
        }
    }

    /**
     * Nodes that were found are ours only if they belong to this session. They are listed again: meanwhile others may
     * have been told of a later list than the one that showed them.
     */
    private void adopt() {
        task.become(AcquireStep.ADOPTING);
        List<Answer<Content>> answers = new ArrayList<>();
        for (OwnNode node : nodes()) {
            session.zk().read(node.path(), task.inThisState((Answer<Content> answer) -> {
                answers.add(answer);
                if (answers.size() == nodes().size()) {
                    judge(answers);
                }
            }));
        }
        // If the nodes are not ours, the step has changed by the time this answer comes.
        session.lists().ask(group.query(), task.inThisState(this::onListed));
    }

    private void judge(List<Answer<Content>> answers) {
        boolean ours = true;
        for (int i = 0; i < answers.size(); i++) {
            Answer<Content> answer = answers.get(i);
            OwnNode node = nodes().get(i);
            if (answer.isOk()) {
                Stat stat = answer.value().stat();
                node.created(node.name(), stat.getCzxid());
                ours &= stat.getEphemeralOwner() == session.zk().sessionId();
            } else if (answer.code() == Code.NONODE) {
                ours = false;
            } else {
                owner.retryOrFail("read " + node.path(), answer, this::settle);
                return;
            }
        }
        if (!ours) {
            owner.onVanished();
        }
    }
}

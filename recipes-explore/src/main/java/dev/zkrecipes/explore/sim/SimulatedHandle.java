// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CheckResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.DeleteResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.CheckVersionRequest;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.SetDataRequest;

/** The engine's port on a simulated session. Sends each operation to the server or, through it, to the leader. */
final class SimulatedHandle implements ZooKeeperOperations {
    private final SimulatedSession session;
    private final Duration timeout;

    SimulatedHandle(SimulatedSession session, Duration timeout) {
        this.session = session;
        this.timeout = timeout;
    }

    @Override
    public State initialState() {
        return State.CONNECTING;
    }

    @Override
    public long sessionId() {
        return session.id();
    }

    @Override
    public Duration sessionTimeout() {
        return timeout;
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return Optional.empty();
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        session.submit(SentRequest.write(
                "create " + prefix,
                draft -> {
                    Code code = draft.create(prefix, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL);
                    return code == Code.OK
                            ? Answer.ok(new Created(draft.created(), draft.stat(draft.created())))
                            : Answer.failed(code);
                },
                reply));
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        session.submit(SentRequest.write(
                "create container " + path,
                draft -> answer(draft.create(path, new byte[0], acl, CreateMode.CONTAINER), path),
                reply));
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        session.submit(SentRequest.write("delete " + path, draft -> answer(draft.delete(path, -1), path), reply));
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        List<Op> all = List.copyOf(operations);
        session.submit(
                Operations.areReads(all)
                        ? SentRequest.read(
                                "read " + all.size(), (server, asker) -> Operations.read(server.tree(), all), reply)
                        : SentRequest.write("multi of " + all.size(), draft -> Operations.write(draft, all), reply));
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        session.submit(SentRequest.read(
                "list " + path,
                (server, asker) -> {
                    TreeNode node = server.tree().get(path);
                    return node == null
                            ? Answer.failed(Code.NONODE)
                            : Answer.ok(new Children(server.tree().children(path), node.stat()));
                },
                reply));
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        session.submit(SentRequest.read("read " + path, (server, asker) -> content(server, path), reply));
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        session.submit(SentRequest.read(
                "read the ACL of " + path,
                (server, asker) -> {
                    TreeNode node = server.tree().get(path);
                    return node == null ? Answer.failed(Code.NONODE) : Answer.ok(new Access(node.acl(), node.stat()));
                },
                reply));
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        session.submit(SentRequest.read(
                "watch " + path,
                (server, asker) -> {
                    Answer<Content> answer = content(server, path);
                    if (answer.isOk()) {
                        server.watches().add(WatchKind.DATA, path, asker);
                    }
                    return answer;
                },
                answer -> {
                    if (answer.isOk()) {
                        session.addWatch(WatchKind.DATA, path, watch);
                    }
                },
                reply));
    }

    @Override
    public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
        session.submit(SentRequest.read(
                "watch the children of " + path,
                (server, asker) -> {
                    if (!server.tree().exists(path)) {
                        return Answer.failed(Code.NONODE);
                    }
                    server.watches().add(WatchKind.CHILDREN, path, asker);
                    return Answer.ok(server.tree().children(path));
                },
                answer -> {
                    if (answer.isOk()) {
                        session.addWatch(WatchKind.CHILDREN, path, watch);
                    }
                },
                reply));
    }

    /**
     * Silences a watch at once. As ZooKeeper's client does, it then asks the server whether it has such a watch. That
     * removes nothing at the server, but when the answer arrives, the client forgets the watch.
     */
    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        session.silence(watch);
        session.submit(SentRequest.ownRead(
                "drop the watch of " + path,
                (server, asker) -> Answer.ok(path),
                answer -> session.forget(path, watch)));
    }

    @Override
    public void close() {
        session.close();
    }

    private static Answer<String> answer(Code code, String path) {
        return code == Code.OK ? Answer.ok(path) : Answer.failed(code);
    }

    private static Answer<Content> content(SimulatedServer server, String path) {
        TreeNode node = server.tree().get(path);
        return node == null ? Answer.failed(Code.NONODE) : Answer.ok(new Content(node.data(), node.stat()));
    }

    /** The two kinds of {@code multi}: a transaction, or several reads at one moment. */
    private static final class Operations {
        private Operations() {}

        static boolean areReads(List<Op> operations) {
            return operations.stream()
                    .allMatch(op -> op.getType() == OpCode.getChildren || op.getType() == OpCode.getData);
        }

        /** Answers each read on its own. The client treats a failure of one as the failure of all. */
        static Answer<List<OpResult>> read(NodeTree tree, List<Op> operations) {
            List<OpResult> results = new ArrayList<>(operations.size());
            Code code = Code.OK;
            for (Op op : operations) {
                TreeNode node = tree.get(op.getPath());
                if (node == null) {
                    code = Code.NONODE;
                    results.add(new ErrorResult(code.intValue()));
                } else if (op.getType() == OpCode.getData) {
                    results.add(new GetDataResult(node.data(), node.stat()));
                } else {
                    results.add(new GetChildrenResult(tree.children(op.getPath())));
                }
            }
            return new Answer<>(code, results);
        }

        /** Applies all operations or none. If one fails, the results show which. */
        static Answer<List<OpResult>> write(Draft draft, List<Op> operations) {
            List<OpResult> results = new ArrayList<>(operations.size());
            for (int i = 0; i < operations.size(); i++) {
                Code code = apply(draft, operations.get(i), results);
                if (code != Code.OK) {
                    return new Answer<>(code, failures(operations.size(), i, code));
                }
            }
            return Answer.ok(results);
        }

        private static Code apply(Draft draft, Op op, List<OpResult> results) {
            Object request = op.toRequestRecord();
            Code code;
            if (request instanceof CheckVersionRequest check) {
                code = draft.check(check.getPath(), check.getVersion());
                results.add(new CheckResult());
            } else if (request instanceof CreateRequest create) {
                CreateMode mode = mode(create.getFlags());
                code = draft.create(create.getPath(), create.getData(), create.getAcl(), mode);
                results.add(
                        code == Code.OK && mode.isContainer()
                                ? new CreateResult(draft.created(), draft.stat(draft.created()))
                                : new CreateResult(draft.created()));
            } else if (request instanceof DeleteRequest delete) {
                code = draft.delete(delete.getPath(), delete.getVersion());
                results.add(new DeleteResult());
            } else if (request instanceof SetDataRequest set) {
                code = draft.setData(set.getPath(), set.getData(), set.getVersion());
                results.add(code == Code.OK ? new SetDataResult(draft.stat(set.getPath())) : new CheckResult());
            } else {
                throw new IllegalArgumentException("the model knows no operation of type " + op.getType());
            }
            return code;
        }

        private static List<OpResult> failures(int count, int failed, Code code) {
            List<OpResult> results = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                Code told = i < failed ? Code.OK : i == failed ? code : Code.RUNTIMEINCONSISTENCY;
                results.add(new ErrorResult(told.intValue()));
            }
            return results;
        }

        private static CreateMode mode(int flags) {
            try {
                return CreateMode.fromFlag(flags);
            } catch (KeeperException e) {
                throw new IllegalArgumentException("no create mode has flags " + flags, e);
            }
        }
    }
}

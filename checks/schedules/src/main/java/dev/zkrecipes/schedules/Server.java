// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Created;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CheckVersionRequest;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.SetDataRequest;
import org.jspecify.annotations.Nullable;

/**
 * A simulated server. It applies each request at once, on the calling thread, and delivers answers and events through
 * the event thread of the session, in the order in which they arose. Thread-safe.
 */
final class Server {
    private static final Node MADE = new Node(new byte[0], 0, 1, 1, 1, 0, 0);

    /**
     * The nodes by path. The lock's path exists from the start, because its creation would add many steps that the
     * plays are not about.
     */
    private Map<String, Node> nodes = new TreeMap<>(Map.of("/", MADE, "/locks", MADE, PlayScene.PATH, MADE));

    private final List<Watch> watches = new ArrayList<>();
    private long zxid = 1;
    private long sessions;

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Node(byte[] data, long owner, long czxid, long mzxid, long pzxid, int version, int creates) {
        Node withData(byte[] next, long now) {
            return new Node(next, owner, czxid, now, pzxid, version + 1, creates);
        }

        Node withChildren(long now, int made) {
            return new Node(data, owner, czxid, mzxid, now, version, creates + made);
        }
    }

    private record Watch(ServerSession session, String path, boolean ofChildren, Consumer<NodeEvent> told) {}

    private record Change(String path, NodeEvent event, boolean isOfChildren) {}

    /**
     * Returns a factory of sessions for one client.
     *
     * @param told called with each new session
     */
    ZooKeeperOperations.Factory of(EngineScheduler scheduler, Consumer<ServerSession> told) {
        return states -> {
            ServerSession opened;
            synchronized (this) {
                opened = new ServerSession(this, ++sessions, scheduler, states);
            }
            told.accept(opened);
            opened.begin();
            return opened;
        };
    }

    /** Returns how many nodes have been created for the lock so far. */
    synchronized int created() {
        return Objects.requireNonNull(nodes.get(PlayScene.PATH)).creates;
    }

    synchronized List<String> children(String path) {
        return childrenOf(path);
    }

    /** Deletes a node, as an operator would. */
    synchronized void delete(String path) {
        answer(() -> delete(path, -1));
    }

    /** Ends a session and deletes its nodes, before any other request is applied. */
    synchronized void end(ServerSession session) {
        watches.removeIf(watch -> watch.session == session);
        zxid++;
        nodes.entrySet().stream()
                .filter(node -> node.getValue().owner == session.sessionId())
                .map(Map.Entry::getKey)
                .toList()
                .forEach(path -> answer(() -> delete(path, -1)));
    }

    // ---- Requests. The caller must hold the monitor of this server.

    <T> Answer<T> answer(Supplier<Answer<T>> request) {
        Map<String, Node> before = new TreeMap<>(nodes);
        changes.clear();
        Answer<T> answer = request.get();
        if (answer.isOk()) {
            List.copyOf(changes).forEach(this::tell);
        } else {
            nodes = before;
        }
        return answer;
    }

    private final List<Change> changes = new ArrayList<>();

    private void tell(Change change) {
        for (Watch watch : List.copyOf(watches)) {
            boolean spent = watch.path.equals(change.path)
                    && (change.event == NodeEvent.DELETED || watch.ofChildren == change.isOfChildren);
            if (spent && watches.remove(watch)) {
                watch.session.event(watch.told, change.event);
            }
        }
    }

    void watch(ServerSession session, String path, boolean ofChildren, Consumer<NodeEvent> told) {
        watches.add(new Watch(session, path, ofChildren, told));
    }

    Answer<Created> create(String prefix, byte[] data, long owner, CreateMode mode) {
        String parent = parent(prefix);
        Node above = nodes.get(parent);
        if (above == null) {
            return Answer.failed(Code.NONODE);
        }
        String digits = String.valueOf(above.creates);
        String path = mode.isSequential() ? prefix + "0".repeat(10 - digits.length()) + digits : prefix;
        if (nodes.containsKey(path)) {
            return Answer.failed(Code.NODEEXISTS);
        }
        zxid++;
        nodes.put(parent, above.withChildren(zxid, 1));
        nodes.put(path, new Node(data, mode.isEphemeral() ? owner : 0, zxid, zxid, zxid, 0, 0));
        changes.add(new Change(parent, NodeEvent.CHANGED, true));
        return Answer.ok(new Created(path, stat(path)));
    }

    Answer<String> delete(String path, int version) {
        Code code = check(path, version);
        if (code == Code.OK && !childrenOf(path).isEmpty()) {
            code = Code.NOTEMPTY;
        }
        if (code != Code.OK) {
            return Answer.failed(code);
        }
        zxid++;
        nodes.computeIfPresent(parent(path), (key, above) -> above.withChildren(zxid, 0));
        nodes.remove(path);
        changes.add(new Change(path, NodeEvent.DELETED, false));
        changes.add(new Change(parent(path), NodeEvent.CHANGED, true));
        return Answer.ok(path);
    }

    private Code setData(String path, byte[] data, int version) {
        Code code = check(path, version);
        if (code == Code.OK) {
            zxid++;
            nodes.computeIfPresent(path, (key, node) -> node.withData(data, zxid));
            changes.add(new Change(path, NodeEvent.CHANGED, false));
        }
        return code;
    }

    private Code check(String path, int version) {
        Node node = nodes.get(path);
        if (node == null) {
            return Code.NONODE;
        }
        return version == -1 || version == node.version ? Code.OK : Code.BADVERSION;
    }

    Answer<Children> list(String path) {
        return nodes.containsKey(path)
                ? Answer.ok(new Children(childrenOf(path), stat(path)))
                : Answer.failed(Code.NONODE);
    }

    Answer<Content> content(String path) {
        Node node = nodes.get(path);
        return node == null ? Answer.failed(Code.NONODE) : Answer.ok(new Content(node.data, stat(path)));
    }

    Answer<List<String>> names(String path) {
        return nodes.containsKey(path) ? Answer.ok(childrenOf(path)) : Answer.failed(Code.NONODE);
    }

    Answer<List<OpResult>> multi(long session, List<Op> operations) {
        List<OpResult> results = new ArrayList<>();
        for (Op operation : operations) {
            Code code = apply(session, operation, results);
            if (code != Code.OK) {
                return new Answer<>(code, failures(operations, results.size(), code));
            }
        }
        return Answer.ok(results);
    }

    private Code apply(long session, Op operation, List<OpResult> results) {
        String path = operation.getPath();
        Object record = operation.toRequestRecord();
        Code code;
        @Nullable OpResult result;
        if (operation.getType() == OpCode.getChildren) {
            code = check(path, -1);
            result = new GetChildrenResult(childrenOf(path));
        } else if (operation.getType() == OpCode.getData) {
            Answer<Content> content = content(path);
            code = content.code();
            result = content.isOk()
                    ? new GetDataResult(content.value().data(), content.value().stat())
                    : null;
        } else if (record instanceof CheckVersionRequest check) {
            code = check(path, check.getVersion());
            result = new CheckResult();
        } else if (record instanceof CreateRequest create) {
            Answer<Created> created = create(path, create.getData(), session, mode(create.getFlags()));
            code = created.code();
            result = created.isOk()
                    ? new CreateResult(created.value().path(), created.value().stat())
                    : null;
        } else if (record instanceof DeleteRequest delete) {
            code = delete(path, delete.getVersion()).code();
            result = new DeleteResult();
        } else if (record instanceof SetDataRequest set) {
            code = setData(path, set.getData(), set.getVersion());
            result = code == Code.OK ? new SetDataResult(stat(path)) : null;
        } else {
            throw new IllegalArgumentException("no operation of type " + operation.getType());
        }
        if (code == Code.OK && result != null) {
            results.add(result);
        }
        return code;
    }

    private static List<OpResult> failures(List<Op> operations, int failed, Code code) {
        List<OpResult> results = new ArrayList<>();
        for (int i = 0; i < operations.size(); i++) {
            Code told = i < failed ? Code.OK : i == failed ? code : Code.RUNTIMEINCONSISTENCY;
            results.add(new ErrorResult(told.intValue()));
        }
        return results;
    }

    private static CreateMode mode(int flags) {
        try {
            return CreateMode.fromFlag(flags);
        } catch (KeeperException e) {
            throw new IllegalArgumentException(e);
        }
    }

    // ---- Paths.

    private List<String> childrenOf(String path) {
        String prefix = path.equals("/") ? path : path + "/";
        List<String> names = new ArrayList<>();
        for (String found : nodes.keySet()) {
            if (found.length() > prefix.length()
                    && found.startsWith(prefix)
                    && found.indexOf('/', prefix.length()) < 0) {
                names.add(found.substring(prefix.length()));
            }
        }
        return names;
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }

    private Stat stat(String path) {
        Node node = Objects.requireNonNull(nodes.get(path));
        int children = childrenOf(path).size();
        return new Stat(
                node.czxid,
                node.mzxid,
                0,
                0,
                node.version,
                node.creates * 2 - children,
                0,
                node.owner,
                node.data.length,
                children,
                node.pzxid);
    }
}

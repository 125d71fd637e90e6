// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;

/** A session on one lock path, that answers at once and can be told to lie in its lists, to fail and to lose answers. */
public final class ScriptedOperations implements ZooKeeperOperations {
    public static final long SESSION = 7;

    /** What can be made to fail. */
    public enum Request {
        CREATE,
        MAKE_PATH,
        LIST,
        /** A read of watched nodes, to see if they are there. */
        LOOK,
        READ,
        ACL,
        WATCH,
        WATCH_DELETION,
        DELETE,
        MULTI
    }

    private record Failure(Code code, boolean applied) {}

    private final ManualScheduler scheduler;
    private final TreeSet<String> nodes = new TreeSet<>();
    private final List<String> deleted = new ArrayList<>();
    private final Set<String> forbidden = new HashSet<>();
    private final Map<String, String> parents = new HashMap<>(); // of those that lie below one path only
    private UnaryOperator<List<String>> view = names -> names;
    private final Map<Request, Deque<Failure>> failures = new EnumMap<>(Request.class);
    private final Map<Request, Deque<Duration>> delays = new EnumMap<>(Request.class);
    private final Map<Request, Duration> latencies = new EnumMap<>(Request.class);
    private final Set<String> persistent = new HashSet<>();
    private final Set<String> hidden = new HashSet<>();
    private final Map<Request, Throwable> broken = new EnumMap<>(Request.class);
    private final List<Request> requests = new ArrayList<>();
    private final Map<String, Consumer<NodeEvent>> watches = new LinkedHashMap<>();
    private final Map<String, Consumer<NodeEvent>> deletionWatches = new LinkedHashMap<>();
    private final Map<String, Long> madeBy = new HashMap<>(); // by the first read
    private final List<String> dropped = new ArrayList<>();
    private List<ACL> rightsOfPath = List.of();
    private long pathMadeAt;
    private State initial = State.CONNECTED;
    private long owner = SESSION;
    private long session = SESSION;
    private int dataVersion;
    private byte[] data = new byte[0];
    private long zxid;
    private final Map<String, Long> created = new HashMap<>(); // by path: how many nodes were made below it
    private long createdAtFirst;
    private List<String> lookedAt = List.of();

    public ScriptedOperations(ManualScheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Puts a node of somebody else's there, below any path. */
    public void add(String name) {
        nodes.add(name);
        created.replaceAll((path, number) -> number + 1);
        createdAtFirst++;
    }

    /** Puts a node of somebody else's below one path. */
    public void add(String path, String name) {
        nodes.add(name);
        parents.put(name, path);
    }

    /** Puts a node there that is no lock's. */
    public void addPersistent(String name) {
        nodes.add(name);
        persistent.add(name);
    }

    /** The counters of all paths stand there, and so do the transactions: who comes now gets the next number. */
    public void count(long number) {
        zxid = number;
        created.clear();
        createdAtFirst = number;
    }

    private long nextNumber(String path) {
        return created.merge(path, createdAtFirst + 1, (before, first) -> before + 1);
    }

    /** Lists are shown so from now on. */
    public void show(UnaryOperator<List<String>> changed) {
        view = changed;
    }

    /** The next requests of that kind are not carried out, and answered with these codes, one each; OK lets one pass. */
    public void refuse(Request request, Code... codes) {
        for (Code code : codes) {
            failuresOf(request).add(new Failure(code, code == Code.OK));
        }
    }

    /** Checks of this node are refused for lack of rights. */
    public void forbid(String name) {
        forbidden.add(name);
    }

    /** All requests are carried out again. */
    public void clearRefusals() {
        failures.clear();
    }

    /** The next request of that kind is carried out, and its answer is lost. */
    public void loseAnswerOf(Request request) {
        failuresOf(request).add(new Failure(Code.CONNECTIONLOSS, true));
    }

    /** The next answer of that kind takes so long; if this is called again, the one after it. */
    public void delayAnswerOf(Request request, Duration delay) {
        delays.computeIfAbsent(request, none -> new ArrayDeque<>()).add(delay);
    }

    /** All answers of that kind take so long, from now on. */
    public void delayAnswersOf(Request request, Duration delay) {
        latencies.put(request, delay);
    }

    /** From now on nothing is answered for a day. */
    public void fallSilent() {
        for (Request request : Request.values()) {
            delayAnswersOf(request, Duration.ofDays(1));
        }
    }

    /** The next request of that kind is not sent: the handle throws. */
    public void breakOn(Request request) {
        breakOn(request, new IllegalStateException("broken handle"));
    }

    /** The next request of that kind is not sent: the handle throws this. */
    public void breakOn(Request request, Throwable thrown) {
        broken.put(request, thrown);
    }

    /** The lock's path is another one from now on, with these rights; nodes of the lock have none in particular. */
    public void recreatePath(List<ACL> rights) {
        rightsOfPath = rights;
        pathMadeAt++;
    }

    /** The state in which sessions begin. */
    public void begin(State state) {
        initial = state;
    }

    /** The id of sessions from now on. */
    public void inSession(long id) {
        session = id;
    }

    /** Nodes that are read belong to this session. */
    public void own(long sessionId) {
        owner = sessionId;
    }

    /** Somebody deletes a node; who watches it is told. */
    public void remove(String name) {
        removeUntold(name);
        tellRemoved(name);
    }

    /** Somebody deletes a node while nobody can be told. */
    public void removeUntold(String name) {
        nodes.remove(name);
        persistent.remove(name);
        madeBy.remove(name);
    }

    /** Nobody may read this node any more. */
    public void hide(String name) {
        hidden.add(name);
    }

    /** Who watches a node is told that it was deleted. */
    public void tellRemoved(String name) {
        fire(watches, name, NodeEvent.DELETED);
        fire(deletionWatches, name, NodeEvent.DELETED);
    }

    /** The data of all nodes changes; who watches that of this one is told. */
    public void change(String name) {
        dataVersion++;
        fire(watches, name, NodeEvent.CHANGED);
    }

    /** The data of all nodes changes while nobody can be told. */
    public void changeUntold() {
        dataVersion++;
    }

    /** The same, to this. */
    public void change(String name, byte[] to) {
        data = to.clone();
        change(name);
    }

    /** A watch for the deletion of the node is spent by something else. */
    public void spendDeletionWatch(String name) {
        fire(deletionWatches, name, NodeEvent.CHANGED);
    }

    private void fire(Map<String, Consumer<NodeEvent>> set, String name, NodeEvent event) {
        Consumer<NodeEvent> watch = set.remove(name);
        if (watch != null) {
            scheduler.execute(() -> watch.accept(event));
        }
    }

    /** The session is over, and its watches with it. */
    public void forgetWatches() {
        watches.clear();
        deletionWatches.clear();
    }

    /** What was sent, and is forgotten by this. */
    public List<Request> requests() {
        List<Request> sent = List.copyOf(requests);
        requests.clear();
        return sent;
    }

    /** The names of the nodes that are watched, in either way. */
    public Set<String> watched() {
        Set<String> all = new TreeSet<>(watches.keySet());
        all.addAll(deletionWatches.keySet());
        return all;
    }

    /** The names of the nodes that are watched for their deletion only, in the order in which they came to be. */
    public List<String> watchedForDeletion() {
        return List.copyOf(deletionWatches.keySet());
    }

    /** The names of the nodes whose watches were dropped. */
    public List<String> dropped() {
        return List.copyOf(dropped);
    }

    /** The names of the nodes that the last look asked about. */
    public List<String> lookedAt() {
        return lookedAt;
    }

    public List<String> nodes() {
        return List.copyOf(nodes);
    }

    public List<String> deleted() {
        return List.copyOf(deleted);
    }

    @Override
    public State initialState() {
        return initial;
    }

    @Override
    public long sessionId() {
        return session;
    }

    @Override
    public Duration sessionTimeout() {
        return Duration.ofSeconds(30);
    }

    @Override
    public Optional<ZooKeeper> handle() {
        return Optional.empty();
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        answer(Request.CREATE, reply, () -> {
            String path = prefix + String.format("%010d", nextNumber(LockPath.parent(prefix)));
            nodes.add(LockPath.name(path));
            parents.put(LockPath.name(path), LockPath.parent(path));
            return Answer.ok(new Created(path, stat()));
        });
    }

    @Override
    public void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply) {
        answer(Request.MAKE_PATH, reply, () -> Answer.failed(Code.NODEEXISTS));
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        answer(Request.LIST, reply, () -> {
            Stat stat = stat();
            stat.setCversion((int) (2 * created.getOrDefault(path, createdAtFirst))); // so it is if all have left again
            stat.setCzxid(pathMadeAt);
            return Answer.ok(new Children(view.apply(below(path)), stat));
        });
    }

    @Override
    public void read(String path, Consumer<Answer<Content>> reply) {
        answer(Request.READ, reply, () -> contentOf(path));
    }

    @Override
    public void acl(String path, Consumer<Answer<Access>> reply) {
        answer(Request.ACL, reply, () -> {
            Stat stat = new Stat();
            stat.setCzxid(pathMadeAt);
            String name = LockPath.name(path);
            boolean isNode = nodes.contains(name);
            if (!isThere(name)) {
                return Answer.failed(Code.NONODE);
            }
            stat.setEphemeralOwner(isNode && !persistent.contains(name) ? owner : 0);
            return Answer.ok(new Access(isNode ? List.of() : rightsOfPath, stat));
        });
    }

    @Override
    public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
        answer(Request.WATCH, reply, () -> {
            Answer<Content> content = contentOf(path);
            if (content.isOk()) {
                watches.put(LockPath.name(path), watch);
            }
            return content;
        });
    }

    @Override
    public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
        answer(Request.WATCH_DELETION, reply, () -> {
            if (!isThere(LockPath.name(path))) {
                return Answer.failed(Code.NONODE);
            } else if (hidden.contains(LockPath.name(path))) {
                return Answer.failed(Code.NOAUTH);
            }
            deletionWatches.put(LockPath.name(path), watch);
            return Answer.ok(List.of());
        });
    }

    @Override
    public void dropWatch(String path, Consumer<NodeEvent> watch) {
        dropped.add(LockPath.name(path));
        watches.remove(LockPath.name(path), watch);
        deletionWatches.remove(LockPath.name(path), watch);
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        answer(Request.DELETE, reply, () -> {
            deleted.add(LockPath.name(path));
            if (!nodes.remove(LockPath.name(path))) {
                return Answer.failed(Code.NONODE);
            }
            tellRemoved(LockPath.name(path));
            return Answer.ok(path);
        });
    }

    /** All or nothing; or a list with the data of its path, or of several paths. */
    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        if (operations.get(0).getKind() == Op.OpKind.READ) {
            Op first = operations.get(0);
            boolean ofLock = first instanceof Op.GetChildren && isLockPath(LockPath.name(first.getPath()));
            lookedAt = ofLock
                    ? lookedAt
                    : operations.stream().map(Op::getPath).map(LockPath::name).toList();
            answer(
                    ofLock ? Request.LIST : Request.LOOK,
                    reply,
                    () -> Answer.ok(operations.stream().map(this::carryOutRead).toList()));
            return;
        }
        answer(Request.MULTI, reply, () -> {
            Set<String> before = Set.copyOf(nodes);
            List<OpResult> results = new ArrayList<>();
            for (Op operation : operations) {
                Code refusal = refusalOf(operation);
                if (refusal != Code.OK) {
                    nodes.retainAll(before);
                    nodes.addAll(before);
                    return new Answer<>(refusal, stoppedAt(results.size(), operations.size(), refusal));
                }
                results.add(carryOut(operation));
            }
            before.stream().filter(name -> !nodes.contains(name)).forEach(name -> {
                deleted.add(name);
                tellRemoved(name);
            });
            return Answer.ok(results);
        });
    }

    /** What a server answers: those before were fine, and those behind were not looked at. */
    private static List<OpResult> stoppedAt(int place, int count, Code refusal) {
        List<OpResult> results = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Code code = i < place ? Code.OK : i == place ? refusal : Code.RUNTIMEINCONSISTENCY;
            results.add(new OpResult.ErrorResult(code.intValue()));
        }
        return results;
    }

    private Code refusalOf(Op operation) {
        String name = LockPath.name(operation.getPath());
        if (operation instanceof Op.Create) {
            return nodes.contains(name) ? Code.NODEEXISTS : Code.OK;
        }
        if (forbidden.contains(name)) {
            return Code.NOAUTH;
        }
        return isThere(name) ? Code.OK : Code.NONODE;
    }

    private OpResult carryOut(Op operation) {
        String path = operation.getPath();
        String name = LockPath.name(path);
        if (operation instanceof Op.Create create) {
            if (isLockPath(name)) {
                count(0);
                return new OpResult.CreateResult(path, stat());
            }
            boolean numbered =
                    ((CreateRequest) create.toRequestRecord()).getFlags() == CreateMode.EPHEMERAL_SEQUENTIAL.toFlag();
            long number = nextNumber(LockPath.parent(path)); // whether it goes into the name or not
            String whole = numbered ? path + String.format("%010d", number) : path;
            nodes.add(LockPath.name(whole));
            parents.put(LockPath.name(whole), LockPath.parent(path));
            return new OpResult.CreateResult(whole);
        } else if (operation instanceof Op.SetData) {
            return new OpResult.SetDataResult(stat());
        } else if (operation instanceof Op.Delete && !isLockPath(name)) {
            remove(name);
        }
        return new OpResult.CheckResult();
    }

    private OpResult carryOutRead(Op operation) {
        String name = LockPath.name(operation.getPath());
        if (hidden.contains(name) || !isThere(name)) {
            return new OpResult.ErrorResult((hidden.contains(name) ? Code.NOAUTH : Code.NONODE).intValue());
        } else if (operation instanceof Op.GetChildren && !isLockPath(name)) {
            return new OpResult.GetChildrenResult(List.of());
        } else if (operation instanceof Op.GetChildren) {
            return new OpResult.GetChildrenResult(view.apply(below(operation.getPath())));
        }
        Content content = contentOf(operation.getPath()).value();
        return new OpResult.GetDataResult(content.data(), content.stat());
    }

    private List<String> below(String path) {
        return nodes.stream()
                .filter(name -> parents.getOrDefault(name, path).equals(path))
                .toList();
    }

    /** The lock's own path is always there. */
    private boolean closed;

    private boolean isThere(String name) {
        return isLockPath(name) || nodes.contains(name);
    }

    private static boolean isLockPath(String name) {
        return !name.contains("-");
    }

    @Override
    public void close() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }

    private Answer<Content> contentOf(String path) {
        return isThere(LockPath.name(path))
                ? Answer.ok(
                        new Content(data.clone(), stat(madeBy.computeIfAbsent(LockPath.name(path), name -> ++zxid))))
                : Answer.failed(Code.NONODE);
    }

    private Stat stat() {
        return stat(++zxid);
    }

    private Stat stat(long czxid) {
        Stat stat = new Stat();
        stat.setCzxid(czxid);
        stat.setMzxid(czxid + dataVersion);
        stat.setEphemeralOwner(owner);
        stat.setVersion(dataVersion);
        return stat;
    }

    private Deque<Failure> failuresOf(Request request) {
        return failures.computeIfAbsent(request, key -> new ArrayDeque<>());
    }

    private <T> void answer(Request request, Consumer<Answer<T>> reply, Supplier<Answer<T>> carriedOut) {
        requests.add(request);
        Throwable thrown = broken.remove(request);
        if (thrown != null) {
            Throwables.throwIfUnchecked(thrown);
        }
        Failure failure = failuresOf(request).poll();
        Answer<T> answer = failure == null || failure.applied() ? carriedOut.get() : Answer.failed(failure.code());
        Answer<T> told = failure == null || failure.code() == Code.OK ? answer : Answer.failed(failure.code());
        if (request == Request.READ && told.code() == Code.MARSHALLINGERROR) { // with what is known of the node
            told = new Answer<>(told.code(), carriedOut.get().valueOrNull());
        }
        Answer<T> last = told;
        Duration delay = delays.getOrDefault(request, new ArrayDeque<>()).poll();
        delay = delay == null ? latencies.get(request) : delay;
        if (delay == null) {
            scheduler.execute(() -> reply.accept(last));
        } else {
            scheduler.schedule(delay, () -> reply.accept(last));
        }
    }
}

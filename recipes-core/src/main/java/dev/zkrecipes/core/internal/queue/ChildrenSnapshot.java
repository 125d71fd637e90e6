// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What one list showed of one or several lock paths. The sorted queues are kept with it, so that they are sorted once
 * for all users of the list.
 */
public final class ChildrenSnapshot {

    /** A path as it was seen, and its queues, one for each kind of driver, so few. */
    private record Seen(
            List<String> names,
            @Nullable Content rule,
            @Nullable Stat stat,
            long turn,
            List<LockQueue> queues) {
        Seen(List<String> names, @Nullable Content rule, @Nullable Stat stat, long turn) {
            this(names, rule, stat, turn, new ArrayList<>(1));
        }
    }

    private static final Seen NOTHING = new Seen(List.of(), null, null, 0);

    private final Answer<?> answer;
    private final Map<String, Seen> paths;

    /** Nothing was seen, because the list was not answered, or not what had to come before it. */
    public ChildrenSnapshot(Answer<?> answer) {
        this(answer, Map.of());
    }

    private ChildrenSnapshot(Answer<?> answer, Map<String, Seen> paths) {
        this.answer = answer;
        this.paths = paths;
    }

    /** What was said of one path, with its {@link #turn}. */
    public static ChildrenSnapshot of(ListQuery.Part part, Answer<Children> answer, long turn) {
        if (!answer.isOk()) {
            return new ChildrenSnapshot(answer);
        }
        Seen seen = new Seen(answer.value().names(), null, answer.value().stat(), turn);
        return new ChildrenSnapshot(answer, Map.of(part.path(), seen));
    }

    /** What a multi-read said, with its {@link #turn}. */
    public static ChildrenSnapshot of(List<ListQuery.Part> parts, Answer<List<OpResult>> answer, long turn) {
        List<OpResult> results = answer.valueOrNull();
        if (results == null || results.isEmpty()) {
            return new ChildrenSnapshot(answer);
        }
        Code worst = Code.OK;
        Map<String, Seen> seen = new HashMap<>();
        Iterator<OpResult> next = results.iterator();
        for (ListQuery.Part part : parts) {
            OpResult children = next.next();
            OpResult rule = part.withRule() ? next.next() : null;
            worst = worse(worse(worst, code(children)), code(rule));
            if (children instanceof GetChildrenResult list) {
                seen.put(
                        part.path(),
                        rule instanceof GetDataResult data
                                ? new Seen(list.getChildren(), content(data), data.getStat(), turn)
                                : new Seen(list.getChildren(), null, null, turn));
            }
        }
        return new ChildrenSnapshot(worst == Code.OK ? Answer.ok(results) : Answer.failed(worst), seen);
    }

    private static Content content(GetDataResult data) {
        return new Content(data.getData() == null ? new byte[0] : data.getData(), data.getStat());
    }

    public static ChildrenSnapshot together(List<ChildrenSnapshot> snapshots) {
        Answer<?> worst = snapshots.get(0).answer;
        for (ChildrenSnapshot snapshot : snapshots) {
            worst = worse(worst.code(), snapshot.code()) == worst.code() ? worst : snapshot.answer;
        }
        Map<String, Seen> seen = new HashMap<>();
        snapshots.forEach(snapshot -> seen.putAll(snapshot.paths));
        return new ChildrenSnapshot(worst, seen);
    }

    /** This list with other children: {@code names} makes those of a path of its path and those that were listed. */
    public ChildrenSnapshot sifted(BiFunction<String, List<String>, List<String>> names) {
        Map<String, Seen> left = new HashMap<>();
        paths.forEach((path, seen) ->
                left.put(path, new Seen(names.apply(path, seen.names), seen.rule, seen.stat, seen.turn)));
        return new ChildrenSnapshot(answer, left);
    }

    private static Code code(@Nullable OpResult result) {
        return result instanceof ErrorResult error ? Answer.codeOf(error.getErr()) : Code.OK;
    }

    /** A missing path is an answer; any other failure takes precedence. */
    private static Code worse(Code one, Code other) {
        return one == Code.OK || (one == Code.NONODE && other != Code.OK) ? other : one;
    }

    /** OK if all paths were seen; NONODE if the server said that one does not exist. */
    public Code code() {
        return answer.code();
    }

    public Answer<?> answer() {
        return answer;
    }

    private Seen seen(String path) {
        return paths.getOrDefault(path, NOTHING);
    }

    /**
     * Which answer of the session showed this path: a later one has a higher number, and 0 if none did. Paths that were
     * listed one by one were not seen at the same time, and the first of them may be out of date when the last comes.
     */
    public long turn(String path) {
        return seen(path).turn;
    }

    public int size() {
        return paths.values().stream().mapToInt(seen -> seen.names.size()).sum();
    }

    /** The children of a path; none if it does not exist. */
    public List<String> names(String path) {
        return seen(path).names;
    }

    /** The data of a path; empty if it does not exist or was not asked for. */
    public Optional<Content> rule(String path) {
        return Optional.ofNullable(seen(path).rule);
    }

    /** The metadata of a path; empty if it does not exist or was not asked for. */
    public Optional<Stat> stat(String path) {
        return Optional.ofNullable(seen(path).stat);
    }

    /**
     * The queue of a lock in this list. An {@link IncompatibleNodeException} refuses a child that has the form of a
     * lock node and is of no kind that the lock knows, or is the folder of one of Curator's semaphores.
     */
    public LockQueue queue(LockSpec spec) {
        Seen seen = seen(spec.path());
        for (int i = 0; i < seen.queues.size(); i++) {
            if (seen.queues.get(i).isSeenAlikeBy(spec)) {
                return seen.queues.get(i);
            }
        }
        LockQueue sorted = new LockQueue(spec, seen.names, seen.rule == null ? null : seen.rule.data());
        if (paths.containsKey(spec.path())) {
            seen.queues.add(sorted);
        }
        return sorted;
    }
}

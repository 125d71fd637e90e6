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
 * The result of one list request: the children of one or several lock paths, with their data where the request asked
 * for it. Either the request failed as a whole, and the snapshot carries only the failure, or each path has what the
 * server returned for it.
 *
 * <p>Several requests may share one snapshot. It caches the sorted queues, so that the children of a path are parsed
 * and sorted once for all requests by equal drivers. Apart from that cache it is immutable. It is confined to the
 * engine thread.
 */
public final class ChildrenSnapshot {

    /**
     * One path as the server returned it, and the queues that were sorted from its children: one for each kind of
     * driver, so few that a linear search is enough.
     */
    private record Seen(
            List<String> names,
            @Nullable Content rule, // the data of the path; null if it was not read
            @Nullable Stat stat, // null if the request did not return it
            long turn, // see ChildrenSnapshot#turn
            List<LockQueue> queues) {
        Seen(List<String> names, @Nullable Content rule, @Nullable Stat stat, long turn) {
            this(names, rule, stat, turn, new ArrayList<>(1));
        }
    }

    private static final Seen NOTHING = new Seen(List.of(), null, null, 0); // for all paths that were not listed

    private final Answer<?> answer; // OK, or the failure that matters most
    private final Map<String, Seen> paths; // only those that the server returned

    /** A snapshot that shows nothing: the list request failed, or a request that had to precede it. */
    public ChildrenSnapshot(Answer<?> answer) {
        this(answer, Map.of());
    }

    private ChildrenSnapshot(Answer<?> answer, Map<String, Seen> paths) {
        this.answer = answer;
        this.paths = paths;
    }

    /**
     * Returns a queue that is known without a request: these names, and the data of the path if it is known.
     * {@code turn} numbers it like an answer that came just now, see {@link #turn}.
     */
    public static ChildrenSnapshot known(String path, List<String> names, Optional<Content> rule, long turn) {
        Stat stat = rule.map(Content::stat).orElse(null);
        Seen seen = new Seen(List.copyOf(names), rule.orElse(null), stat, turn);
        return new ChildrenSnapshot(Answer.ok(names), Map.of(path, seen));
    }

    /** Returns the answer to a request for the children of one path. See {@link #turn} for the number. */
    public static ChildrenSnapshot of(ListQuery.Part part, Answer<Children> answer, long turn) {
        if (!answer.isOk()) {
            return new ChildrenSnapshot(answer);
        }
        Seen seen = new Seen(answer.value().names(), null, answer.value().stat(), turn);
        return new ChildrenSnapshot(answer, Map.of(part.path(), seen));
    }

    /**
     * Returns the answer to a multi-read, which lists several paths, or a path together with its data. A multi-read can
     * fail for one path and succeed for another; the snapshot keeps the paths that succeeded. See {@link #turn} for the
     * number.
     */
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

    /** ZooKeeper returns null as the data of a node that was created without data. */
    private static Content content(GetDataResult data) {
        return new Content(data.getData() == null ? new byte[0] : data.getData(), data.getStat());
    }

    /** Joins snapshots of different paths: lists that may be too large for one packet are read path by path. */
    public static ChildrenSnapshot together(List<ChildrenSnapshot> snapshots) {
        if (snapshots.size() == 1) {
            return snapshots.get(0);
        }
        Answer<?> worst = snapshots.get(0).answer;
        for (ChildrenSnapshot snapshot : snapshots) {
            worst = worse(worst.code(), snapshot.code()) == worst.code() ? worst : snapshot.answer;
        }
        Map<String, Seen> seen = new HashMap<>();
        snapshots.forEach(snapshot -> seen.putAll(snapshot.paths));
        return new ChildrenSnapshot(worst, seen);
    }

    /**
     * Returns a copy in which {@code names} has replaced the children of each path. The function gets the path and its
     * listed children, and returns the children to keep.
     */
    public ChildrenSnapshot sifted(BiFunction<String, List<String>, List<String>> names) {
        Map<String, Seen> left = new HashMap<>();
        paths.forEach((path, seen) ->
                left.put(path, new Seen(names.apply(path, seen.names), seen.rule, seen.stat, seen.turn)));
        return new ChildrenSnapshot(answer, left);
    }

    private static Code code(@Nullable OpResult result) {
        return result instanceof ErrorResult error ? Answer.codeOf(error.getErr()) : Code.OK;
    }

    /**
     * Returns which of two results to report. A missing path is a valid answer, so any other failure takes precedence
     * over it.
     */
    private static Code worse(Code one, Code other) {
        return one == Code.OK || (one == Code.NONODE && other != Code.OK) ? other : one;
    }

    /**
     * Returns OK if the server returned all paths, NONODE if it said that a path does not exist, and otherwise the
     * failure.
     */
    public Code code() {
        return answer.code();
    }

    /** Returns the answer behind {@link #code}, for messages that quote its value, such as the number of children. */
    public Answer<?> answer() {
        return answer;
    }

    private Seen seen(String path) {
        return paths.getOrDefault(path, NOTHING);
    }

    /**
     * Returns the number of the answer that showed this path; 0 if no answer showed it. The session numbers its
     * answers, and what it knows without one, so whatever is later has a higher number. Paths that were listed one by
     * one have different numbers: the first may be out of date by the time the last is answered. A queue uses the
     * number to ignore a list that is older than its own.
     */
    public long turn(String path) {
        return seen(path).turn;
    }

    /** Returns the number of children of all paths together. */
    public int size() {
        return paths.values().stream().mapToInt(seen -> seen.names.size()).sum();
    }

    /** Returns the names of a path's children, in no particular order; none if the path does not exist. */
    public List<String> names(String path) {
        return seen(path).names;
    }

    /** Returns the data of a path; empty if the path does not exist or its data was not requested. */
    public Optional<Content> rule(String path) {
        return Optional.ofNullable(seen(path).rule);
    }

    /** Returns the metadata of a path; empty if the path does not exist or its metadata was not returned. */
    public Optional<Stat> stat(String path) {
        return Optional.ofNullable(seen(path).stat);
    }

    /**
     * Returns the queue of a lock in this list. Throws an {@link IncompatibleNodeException} if a child has the form of
     * a lock node but is of no kind that this lock knows, or if a child is the folder of one of Curator's semaphores:
     * such a child may belong to a holder that this lock would not exclude.
     */
    public LockQueue queue(LockSpec spec) {
        Seen seen = seen(spec.path());
        for (LockQueue queue : seen.queues) {
            if (queue.isSeenAlikeBy(spec)) {
                return queue;
            }
        }
        LockQueue sorted = new LockQueue(spec, seen.names, seen.rule == null ? null : seen.rule.data());
        if (paths.containsKey(spec.path())) {
            seen.queues.add(sorted);
        }
        return sorted;
    }
}

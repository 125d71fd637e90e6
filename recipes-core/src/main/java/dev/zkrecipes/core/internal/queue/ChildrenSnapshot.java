// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.session.ListBatcher;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** One look at one or several lock paths. */
public final class ChildrenSnapshot {

    /** A path as it was seen. */
    private record Seen(
            List<String> names,
            @Nullable Content rule,
            @Nullable Stat stat) {}

    private final Answer<?> answer;
    private final Map<String, Seen> paths = new HashMap<>();
    private final IdentityHashMap<LockSpec, LockQueue> queues = new IdentityHashMap<>();

    private ChildrenSnapshot(Answer<?> answer) {
        this.answer = answer;
    }

    /** What was said of one path. */
    public static ChildrenSnapshot of(ListBatcher.Part part, Answer<Children> answer) {
        ChildrenSnapshot look = new ChildrenSnapshot(answer);
        if (answer.isOk()) {
            look.paths.put(
                    part.path(),
                    new Seen(answer.value().names(), null, answer.value().stat()));
        }
        return look;
    }

    /** Nothing was seen, because the client failed. */
    public static ChildrenSnapshot broken(Throwable cause) {
        return new ChildrenSnapshot(Answer.broken(cause));
    }

    /** What a multi-read said. */
    public static ChildrenSnapshot of(List<ListBatcher.Part> parts, Answer<List<OpResult>> answer) {
        try {
            return ofResults(parts, answer);
        } catch (Throwable t) {
            return broken(t);
        }
    }

    private static ChildrenSnapshot ofResults(List<ListBatcher.Part> parts, Answer<List<OpResult>> answer) {
        List<OpResult> results = answer.valueOrNull();
        if (results == null || results.isEmpty()) {
            return new ChildrenSnapshot(answer);
        }
        Code worst = Code.OK;
        Map<String, Seen> seen = new HashMap<>();
        Iterator<OpResult> next = results.iterator();
        for (ListBatcher.Part part : parts) {
            OpResult children = next.next();
            OpResult rule = part.withRule() ? next.next() : null;
            worst = worse(worse(worst, code(children)), code(rule));
            if (children instanceof GetChildrenResult list) {
                seen.put(
                        part.path(),
                        rule instanceof GetDataResult data
                                ? new Seen(list.getChildren(), content(data), data.getStat())
                                : new Seen(list.getChildren(), null, null));
            }
        }
        ChildrenSnapshot look = new ChildrenSnapshot(worst == Code.OK ? Answer.ok(results) : Answer.failed(worst));
        look.paths.putAll(seen);
        return look;
    }

    private static Content content(GetDataResult data) {
        return new Content(data.getData() == null ? new byte[0] : data.getData(), data.getStat());
    }

    /** Several looks at different paths as one. */
    public static ChildrenSnapshot together(List<ChildrenSnapshot> looks) {
        Answer<?> worst = looks.get(0).answer;
        for (ChildrenSnapshot look : looks) {
            worst = worse(worst.code(), look.code()) == worst.code() ? worst : look.answer;
        }
        ChildrenSnapshot together = new ChildrenSnapshot(worst);
        looks.forEach(look -> together.paths.putAll(look.paths));
        return together;
    }

    private static Code code(@Nullable OpResult result) {
        return result instanceof ErrorResult error ? Code.get(error.getErr()) : Code.OK;
    }

    /** That a path does not exist is an answer; anything else that went wrong counts more. */
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

    /** The number of children of all paths. */
    public int size() {
        return paths.values().stream().mapToInt(seen -> seen.names().size()).sum();
    }

    /** The children of a path; none if it does not exist. */
    public List<String> names(String path) {
        Seen seen = paths.get(path);
        return seen == null ? Collections.emptyList() : seen.names();
    }

    /** The data of a path; empty if it does not exist or was not asked for. */
    public Optional<Content> rule(String path) {
        return Optional.ofNullable(paths.get(path)).map(Seen::rule);
    }

    /** The metadata of a path; empty if it does not exist or was not asked for. */
    public Optional<Stat> stat(String path) {
        return Optional.ofNullable(paths.get(path)).map(Seen::stat);
    }

    /**
     * The queue of a lock in this look.
     *
     * @throws LockException as {@link LockQueue}
     */
    public LockQueue queue(LockSpec target) {
        return queues.computeIfAbsent(
                target,
                key -> new LockQueue(
                        key,
                        names(key.path()),
                        rule(key.path()).map(Content::data).orElse(null)));
    }
}

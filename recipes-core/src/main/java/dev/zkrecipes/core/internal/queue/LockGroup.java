// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.LockOptions;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The locks that one attempt acquires as a whole: a single lock, or several locks of one client on different paths.
 * It is immutable, so any thread may use it.
 *
 * <p>Two groups of the same locks are equal, in whatever order they name them. A group that was created from one lock
 * by {@link #together} does not equal that lock alone: they are two objects of the application, and releasing one must
 * not end a hold of the other.
 */
public final class LockGroup {
    /**
     * The largest number of members. Together with the limit on their paths, it keeps each {@code multi} far below
     * ZooKeeper's packet limit of 1 MiB.
     */
    private static final int MOST = 500;

    private static final int MOST_PATH_CHARACTERS = 100_000; // of all members together

    private final List<LockSpec> all;
    private final boolean isJoined; // created by together(), though possibly with only one member
    private final LockOptions options; // of the whole group; each member has its own, too
    private final String path; // for messages and events
    private final List<String> paths;
    private final ListQuery query; // shows the queues of all members
    private final Optional<Duration> holdAtMost; // computed once, because each grant needs it
    private final boolean hasOwnAcl; // computed once, because each request needs it

    private LockGroup(List<LockSpec> all, boolean isJoined, LockOptions options) {
        this.all = all;
        this.isJoined = isJoined;
        this.options = options;
        this.paths = all.stream().map(LockSpec::path).toList();
        this.path = String.join(",", paths);
        this.holdAtMost = Stream.concat(Stream.of(options), all.stream().map(LockSpec::options))
                .flatMap(each -> each.holdAtMost().stream())
                .min(Comparator.naturalOrder());
        this.hasOwnAcl = all.stream().anyMatch(LockSpec::hasOwnAcl);
        this.query = new ListQuery(all.stream()
                .map(spec -> new ListQuery.Part(spec.path(), needsData(spec, all)))
                .toList());
    }

    /**
     * Whether the list must read the data of the path, too: a shared rule is in the data, and an own ACL is checked
     * against the metadata. A list of a single path returns the metadata anyway; a list of several paths is a
     * multi-read, which returns names only.
     */
    private static boolean needsData(LockSpec spec, List<LockSpec> all) {
        return spec.hasSharedRule() || (spec.hasOwnAcl() && all.size() > 1);
    }

    public static LockGroup of(LockSpec spec) {
        return new LockGroup(List.of(spec), false, spec.options());
    }

    /**
     * Combines several locks into one. Throws an IllegalArgumentException that says why, if they cannot be combined.
     */
    public static LockGroup together(List<LockSpec> specs, LockOptions options) {
        Preconditions.checkArgument(!specs.isEmpty(), "a lock of several needs at least one member");
        Preconditions.checkArgument(
                specs.size() <= MOST, "%s locks together; the most that enter at once are %s", specs.size(), MOST);
        Set<String> paths = new HashSet<>();
        int characters = 0;
        for (LockSpec spec : specs) {
            Preconditions.checkArgument(
                    paths.add(spec.path()),
                    "the path %s is named twice: its second request would wait for its first",
                    spec.path());
            Preconditions.checkArgument(
                    options.acl().isEmpty()
                            || options.acl().equals(spec.options().acl()),
                    "the lock %s has an ACL of its own, or none: name the ACL in the options of the members only",
                    spec.path());
            characters += spec.path().length();
        }
        Preconditions.checkArgument(
                characters <= MOST_PATH_CHARACTERS,
                "paths of %s characters in all; the most that enter at once are %s",
                characters,
                MOST_PATH_CHARACTERS);
        return new LockGroup(List.copyOf(specs), true, options);
    }

    public List<LockSpec> all() {
        return all;
    }

    public boolean isSingle() {
        return all.size() == 1;
    }

    public LockOptions options() {
        return options;
    }

    /**
     * Returns how long the group may be held: the shortest limit in its options and those of its members; empty if none
     * of them sets a limit.
     */
    public Optional<Duration> holdAtMost() {
        return holdAtMost;
    }

    /** Whether at least one lock has an ACL of its own. */
    public boolean hasOwnAcl() {
        return hasOwnAcl;
    }

    /** Returns the path of the lock, for messages; the paths of several locks are separated by commas. */
    public String path() {
        return path;
    }

    public List<String> paths() {
        return paths;
    }

    /**
     * Whether the rule of at least one lock refuses every request like this one until somebody changes the rule. Such
     * a request looks at the rule first, instead of creating nodes that would be refused.
     */
    public boolean isHopeless() {
        for (LockSpec spec : all) {
            if (spec.isHopeless()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the list request that shows the queues of all members. */
    public ListQuery query() {
        return query;
    }

    /**
     * Children of a path that look like lock nodes of a kind unknown to the lock, and the error to report if one of
     * them is a lock node. Only the name is known of them. Lock nodes are ephemeral, so the caller asks the server
     * about each child: the lock ignores persistent children.
     */
    public record Strangers(List<String> paths, IncompatibleNodeException refusal) {}

    /**
     * Returns the strangers of the first path that has any; null if no path has any. Throws an
     * {@link IncompatibleNodeException} for a folder of Curator's semaphores, which needs no question to the server.
     */
    public @Nullable Strangers strangersIn(ChildrenSnapshot list) {
        for (LockSpec spec : all) {
            try {
                list.queue(spec);
            } catch (IncompatibleNodeException e) {
                List<String> strangers = LockQueue.strangers(list.names(spec.path()), spec);
                if (strangers.isEmpty()) {
                    throw e;
                }
                return new Strangers(strangers, e);
            }
        }
        return null;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other == this
                || (other instanceof LockGroup that
                        && isJoined == that.isJoined
                        && all.size() == that.all.size()
                        && (isSingle() ? all.equals(that.all) : new HashSet<>(all).equals(new HashSet<>(that.all))));
    }

    @Override
    public int hashCode() {
        return new HashSet<>(all).hashCode(); // does not depend on the order
    }
}

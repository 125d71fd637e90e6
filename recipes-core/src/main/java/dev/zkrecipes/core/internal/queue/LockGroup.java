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
 * The locks that one attempt acquires as a whole: one, or several of one client on different paths. Two groups of the
 * same locks are equal, in any order; a group of one is not equal to its lock alone, whose release must not end it.
 */
public final class LockGroup {
    /** Keeps every {@code multi} far below ZooKeeper's packet limit of 1 MiB. */
    private static final int MOST = 500;

    private static final int MOST_PATH_CHARACTERS = 100_000;

    private final List<LockSpec> all;
    private final boolean isJoined;
    private final LockOptions options;
    private final String path;
    private final List<String> paths;
    private final ListQuery query;
    private final Optional<Duration> holdAtMost;

    private LockGroup(List<LockSpec> all, boolean isJoined, LockOptions options) {
        this.all = all;
        this.isJoined = isJoined;
        this.options = options;
        this.paths = all.stream().map(LockSpec::path).toList();
        this.path = String.join(",", paths);
        this.holdAtMost = Stream.concat(Stream.of(options), all.stream().map(LockSpec::options))
                .flatMap(each -> each.holdAtMost().stream())
                .min(Comparator.naturalOrder());
        this.query = new ListQuery(all.stream()
                .map(spec -> new ListQuery.Part(spec.path(), needsData(spec, all)))
                .toList());
    }

    /** Whether the data are needed: for the rule, or for metadata, which only a list of one path brings along. */
    private static boolean needsData(LockSpec spec, List<LockSpec> all) {
        return spec.hasSharedRule() || (spec.hasOwnAcl() && all.size() > 1);
    }

    public static LockGroup of(LockSpec spec) {
        return new LockGroup(List.of(spec), false, spec.options());
    }

    /** Several locks as one. An IllegalArgumentException says why they cannot be. */
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

    /** How long it may be held: the shortest limit of all options; empty for any time. */
    public Optional<Duration> holdAtMost() {
        return holdAtMost;
    }

    /** The path of the lock; with commas in between, if there are several. */
    public String path() {
        return path;
    }

    public List<String> paths() {
        return paths;
    }

    /** Whether the rule of one of them refuses every such request, as long as nobody changes it. */
    public boolean isHopeless() {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).isHopeless()) {
                return true;
            }
        }
        return false;
    }

    public ListQuery query() {
        return query;
    }

    /**
     * Children that look like nodes of another kind of lock, and the error if one is. Nodes of locks are ephemeral: if
     * none of these is, the lock does not mind them.
     */
    public record Strangers(List<String> paths, IncompatibleNodeException refusal) {}

    /** The strangers of the first path that has any; null if no path has. */
    public @Nullable Strangers strangersIn(ChildrenSnapshot list) {
        for (int i = 0; i < all.size(); i++) {
            LockSpec spec = all.get(i);
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
        int sum = 0; // in any order
        for (int i = 0; i < all.size(); i++) {
            sum += all.get(i).hashCode();
        }
        return sum;
    }
}

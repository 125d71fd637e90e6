// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** The holds of one owner that were lost and are not closed yet, and how long ago that was. Thread-safe. */
final class LostHolds {
    /**
     * How long a lost hold counts that nobody closes. After this time since the loss it counts as closed, provided
     * that an exception has told its owner of the loss. Without that limit, one lease that was dropped would fail
     * every later acquire of its thread on the path.
     */
    static final Duration FORGOTTEN = Duration.ofMinutes(5);

    private final LongSupplier clock;
    private final Map<Hold, Loss> losses = new ConcurrentHashMap<>(1); // as far as they are noted

    /** When a hold was lost, and whether an exception has told its owner. */
    private record Loss(long at, boolean isTold) {}

    LostHolds(LongSupplier clock) {
        this.clock = clock;
    }

    /** Notes a loss, of which only the first time counts, and whether an exception tells the owner of it. */
    void note(Hold hold, boolean isTold) {
        losses.merge(
                hold,
                new Loss(clock.getAsLong(), isTold),
                (noted, next) -> new Loss(noted.at(), noted.isTold() || isTold));
        if (hold.isClosed()) { // the thread that closes it may have looked before there was a note
            losses.remove(hold);
        }
    }

    /** The hold was closed. */
    void remove(Hold closed) {
        if (!losses.isEmpty()) {
            losses.remove(closed);
        }
    }

    /**
     * Whether all of them were lost long ago, and their owner was told. Such an owner has had its time to close them,
     * and no longer relies on the lock.
     */
    boolean areForgotten(List<Hold> holds) {
        return holds.stream().allMatch(hold -> {
            Loss noted = losses.get(hold);
            return noted != null && noted.isTold() && isLongAgo(noted);
        });
    }

    /** Those that were lost long ago, whether or not their owner was told. */
    List<Hold> longLost() {
        if (losses.isEmpty()) {
            return List.of();
        }
        return losses.entrySet().stream()
                .filter(each -> isLongAgo(each.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private boolean isLongAgo(Loss loss) {
        return clock.getAsLong() - loss.at() >= FORGOTTEN.toNanos();
    }
}

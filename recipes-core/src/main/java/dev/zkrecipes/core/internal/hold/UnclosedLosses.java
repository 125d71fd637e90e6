// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** The holds of one owner that were lost and are not closed yet, with the time of each loss. Thread-safe. */
final class UnclosedLosses {
    /**
     * How long a lost hold counts if nobody closes it. After this time since the loss it counts as closed, provided
     * that an exception has notified its owner of the loss. Without this limit, one dropped lease would make every
     * later acquire of its thread on the path fail.
     */
    static final Duration FORGOTTEN = Duration.ofMinutes(5);

    private final LongSupplier clock;
    private final Map<Hold, Loss> losses = new ConcurrentHashMap<>(1); // the recorded losses

    /** When a hold was lost, and whether an exception has notified its owner. */
    private record Loss(long at, boolean isTold) {}

    UnclosedLosses(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Records a loss, and whether an exception notifies the owner of it. If a loss is recorded repeatedly, its first
     * time counts.
     */
    void note(Hold hold, boolean isTold) {
        losses.merge(
                hold,
                new Loss(clock.getAsLong(), isTold),
                (noted, next) -> new Loss(noted.at(), noted.isTold() || isTold));
        if (hold.isClosed()) { // the closing thread may have looked before the loss was recorded
            losses.remove(hold);
        }
    }

    /** Removes a hold that was closed. */
    void remove(Hold closed) {
        if (!losses.isEmpty()) {
            losses.remove(closed);
        }
    }

    /**
     * Whether all of these holds were lost long ago, and their owner was notified. Such an owner has had enough time to
     * close them, and no longer relies on the lock.
     */
    boolean areForgotten(List<Hold> holds) {
        return holds.stream().allMatch(hold -> {
            Loss noted = losses.get(hold);
            return noted != null && noted.isTold() && isLongAgo(noted);
        });
    }

    /** Returns the holds that were lost long ago, whether or not their owner was notified. */
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

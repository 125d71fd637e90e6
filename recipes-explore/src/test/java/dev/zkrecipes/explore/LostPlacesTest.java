// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.explore.sim.Choices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Schedules of all faults hit often what is dangerous: somebody loses its place just when its turn would come. */
class LostPlacesTest {
    private static final int SCHEDULES = 1000;
    private static final long NEAR = Duration.ofMillis(50).toNanos();

    /** The node that lost its place, and the one in front of it. */
    private record Loss(QueuedNode waiting, QueuedNode front, long at) {}

    /** Watches one schedule: when nodes go, and why. */
    private static final class Observer {
        private final List<String> trace = new ArrayList<>();
        private final Schedule schedule;
        private final Map<QueuedNode, Long> goneAt = new HashMap<>();
        private final Set<Loss> losses = new HashSet<>();
        private final Set<QueuedNode> granted = new HashSet<>();
        private List<QueuedNode> seen = List.of();

        Observer(long seed) {
            schedule = new Schedule(
                    Queue.exploredMutex(Queue.MUTEX), 3, EnumSet.allOf(FaultKind.class), Choices.random(seed), trace);
            schedule.simulation().afterEachStep(this::look);
            schedule.run();
        }

        private void look() {
            List<QueuedNode> now = schedule.lockNodes();
            for (int i = 0; i < seen.size(); i++) {
                QueuedNode place = seen.get(i);
                if (!now.contains(place)) {
                    goneAt.put(place, schedule.simulation().now());
                    if (i > 0 && !granted.contains(place) && isDeletedByOperator(place)) {
                        losses.add(new Loss(place, seen.get(i - 1), goneAt.get(place)));
                    }
                }
            }
            now.stream().filter(schedule.judge()::isGranted).forEach(granted::add);
            seen = now;
        }

        private boolean isDeletedByOperator(QueuedNode place) {
            return schedule.judge().isDeletedByOperator(place.path());
        }

        /** Just before the node in front went. */
        boolean isJustBefore(Loss loss) {
            return goneAt.getOrDefault(loss.front(), Long.MAX_VALUE) - loss.at() < NEAR;
        }

        boolean wentByItself(Loss loss) {
            return !isDeletedByOperator(loss.front());
        }
    }

    @Test
    void waiters_oftenLoseTheirPlace_justBeforeTheOneInFrontGoes() {
        int deleted = 0;
        int givenBack = 0;
        int broken = 0;
        for (int seed = 1; seed <= SCHEDULES; seed++) {
            Observer observer = new Observer(seed);
            for (Loss loss : observer.losses) {
                if (observer.isJustBefore(loss)) {
                    if (observer.wentByItself(loss)) {
                        givenBack++;
                    } else {
                        deleted++;
                    }
                    broken += observer.trace.stream().anyMatch(line -> line.contains("the connection breaks")) ? 1 : 0;
                }
            }
        }
        assertThat(deleted).as("the one in front was deleted too").isGreaterThan(SCHEDULES / 50);
        assertThat(givenBack).as("the one in front gave back").isGreaterThan(SCHEDULES / 50);
        assertThat(broken)
                .as("with a connection that broke")
                .isBetween(SCHEDULES / 50, deleted + givenBack - SCHEDULES / 50);
    }
}

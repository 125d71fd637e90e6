// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.thread.TimerHeap.Alarm;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimerHeapTest {
    private final TimerHeap heap = new TimerHeap();

    private static Alarm at(long nanos) {
        return new Alarm(() -> {}, nanos);
    }

    private Alarm added(long nanos) {
        Alarm alarm = at(nanos);
        heap.add(alarm);
        return alarm;
    }

    @Test
    void alarm_isNotTakenBeforeItIsDue() {
        Alarm alarm = added(10);
        assertThat(heap.takeDue(9)).isNull();
        assertThat(heap.takeDue(10)).isSameAs(alarm);
        assertThat(heap.takeDue(10)).isNull();
    }

    @Test
    void timesAreCompared_byTheirDifference() {
        Alarm late = added(Long.MIN_VALUE + 5); // the clock may pass the largest long
        Alarm early = added(Long.MAX_VALUE - 5);
        assertThat(heap.takeDue(Long.MAX_VALUE)).isSameAs(early);
        assertThat(heap.takeDue(Long.MAX_VALUE)).isNull();
        assertThat(heap.nanosToFirst(Long.MAX_VALUE, 100)).isEqualTo(6);
        assertThat(heap.takeDue(Long.MIN_VALUE + 5)).isSameAs(late);
    }

    @Test
    void timeToTheFirst_isBetweenZeroAndTheLimit() {
        assertThat(heap.nanosToFirst(0, 100)).isEqualTo(100);
        added(50);
        assertThat(heap.nanosToFirst(0, 100)).isEqualTo(50);
        assertThat(heap.nanosToFirst(0, 20)).isEqualTo(20);
        assertThat(heap.nanosToFirst(60, 20)).isZero();
    }

    @Test
    void unknownAlarm_isRemovedWithoutEffect() {
        Alarm taken = added(1);
        heap.takeDue(1);
        Alarm other = added(2);
        heap.remove(taken);
        heap.remove(at(2));
        assertThat(heap.size()).isEqualTo(1);
        heap.remove(other);
        heap.remove(other);
        assertThat(heap.size()).isZero();
    }

    /** Against a list that is searched; few different times, so that many alarms fall due at once. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void alarmsComeByTime_thenByOrder_whateverIsCalledOff(long seed) {
        Random random = new Random(seed);
        List<Alarm> expected = new ArrayList<>();
        List<Long> times = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            int kind = random.nextInt(10);
            if (kind < 5) {
                long time = random.nextInt(200);
                expected.add(added(time));
                times.add(time);
            } else if (kind < 8 && !expected.isEmpty()) {
                int index = random.nextInt(expected.size());
                heap.remove(expected.remove(index));
                times.remove(index);
            } else {
                assertThat(heap.takeDue(100)).isSameAs(firstOf(expected, times));
            }
            assertThat(heap.size()).isEqualTo(expected.size());
        }
    }

    private static Alarm firstOf(List<Alarm> alarms, List<Long> times) {
        int first = -1;
        for (int i = 0; i < times.size(); i++) {
            if (times.get(i) <= 100 && (first < 0 || times.get(i) < times.get(first))) {
                first = i;
            }
        }
        if (first < 0) {
            return null;
        }
        times.remove(first);
        return alarms.remove(first);
    }
}

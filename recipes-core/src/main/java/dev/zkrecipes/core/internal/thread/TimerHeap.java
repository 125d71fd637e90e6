// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Alarms by the time at which they fall due, and of the same time in the order in which they were added. A binary heap
 * in which each alarm knows its place, so that one that is called off is taken out at once. Confined to the engine
 * thread. Times are those of {@link System#nanoTime()}, so only their differences count.
 */
final class TimerHeap {

    /** A task for later. */
    static final class Alarm {
        private static final int NOWHERE = -1;

        private final Runnable task;
        private final long at;
        private long number;
        private int place = NOWHERE;

        Alarm(Runnable task, long at) {
            this.task = task;
            this.at = at;
        }

        Runnable task() {
            return task;
        }

        private boolean isBefore(Alarm other) {
            return at == other.at ? number < other.number : at - other.at < 0;
        }
    }

    private @Nullable Alarm[] heap = new @Nullable Alarm[16];
    private int size;
    private long added;

    int size() {
        return size;
    }

    void add(Alarm alarm) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size); // if there is no memory for it, nothing has changed yet
        }
        alarm.number = added++;
        rise(size++, alarm);
    }

    /** Takes an alarm out, if it is in. */
    void remove(Alarm alarm) {
        int hole = alarm.place;
        if (hole == Alarm.NOWHERE) {
            return;
        }
        alarm.place = Alarm.NOWHERE;
        Alarm last = at(--size);
        heap[size] = null;
        if (last != alarm) {
            sink(hole, last);
            rise(last.place, last);
        }
    }

    /** Takes out the first alarm, if it is due before {@code now} or at that moment. */
    @Nullable
    Alarm takeDue(long now) {
        if (size == 0 || at(0).at - now > 0) {
            return null;
        }
        Alarm first = at(0);
        remove(first);
        return first;
    }

    /** Whether there is an alarm that is due before that time. */
    boolean isAnyDue(long before) {
        return size > 0 && at(0).at - before < 0;
    }

    /** How long it is to the first alarm, but at most {@code limit}. */
    long nanosToFirst(long now, long limit) {
        return size == 0 ? limit : Math.max(0, Math.min(limit, at(0).at - now));
    }

    void clear() {
        Arrays.fill(heap, null);
        size = 0;
    }

    /** Puts the alarm into the hole or above it. */
    private void rise(int hole, Alarm alarm) {
        int place = hole;
        while (place > 0 && alarm.isBefore(at((place - 1) / 2))) {
            put(place, at((place - 1) / 2));
            place = (place - 1) / 2;
        }
        put(place, alarm);
    }

    /** Puts the alarm into the hole or below it. */
    private void sink(int hole, Alarm alarm) {
        int place = hole;
        for (int child = firstChild(place); child < size && at(child).isBefore(alarm); child = firstChild(place)) {
            put(place, at(child));
            place = child;
        }
        put(place, alarm);
    }

    /** The child that falls due first; no place of the heap if there is none. */
    private int firstChild(int place) {
        int left = 2 * place + 1;
        return left + 1 < size && at(left + 1).isBefore(at(left)) ? left + 1 : left;
    }

    private void put(int place, Alarm alarm) {
        heap[place] = alarm;
        alarm.place = place;
    }

    private Alarm at(int place) {
        Alarm alarm = heap[place];
        if (alarm == null) {
            throw new IllegalStateException("no alarm at " + place + " of " + size);
        }
        return alarm;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** The rooms, the locks in front of them, and what went wrong. */
final class House {
    static final int MUTEXES = 3;
    static final int READ_WRITE_LOCKS = 2;
    static final int PERMITS = 5;
    /** A writer fills the room. */
    static final int WRITER = 1000;

    static final String PATH = "/house";
    static final String SEMAPHORE = PATH + "/semaphore";

    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final AtomicLong visits = new AtomicLong();
    private final List<Room> mutexRooms = rooms("a mutex's room", MUTEXES, 1);
    private final List<Room> readWriteRooms = rooms("a library", READ_WRITE_LOCKS, WRITER);
    private final Room semaphoreRoom = new Room("the semaphore's room", PERMITS, violations);

    private List<Room> rooms(String name, int count, int size) {
        List<Room> rooms = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rooms.add(new Room(name, size, violations));
        }
        return rooms;
    }

    static String mutexPath(int i) {
        return PATH + "/mutex-" + i;
    }

    static String readWritePath(int i) {
        return PATH + "/library-" + i;
    }

    Room mutexRoom(int i) {
        return mutexRooms.get(i);
    }

    Room readWriteRoom(int i) {
        return readWriteRooms.get(i);
    }

    Room semaphoreRoom() {
        return semaphoreRoom;
    }

    Queue<String> violations() {
        return violations;
    }

    void countVisit() {
        visits.incrementAndGet();
    }

    long visits() {
        return visits.get();
    }
}

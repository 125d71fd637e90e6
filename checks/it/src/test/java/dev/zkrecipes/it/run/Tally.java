// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/** Counts what is entered. One class for both class loaders, and so public. */
public final class Tally {
    private static final Object LOCK = new Object();
    private static final Map<String, List<Course>> ROUNDS = new TreeMap<>();
    private static final Set<String> CLASSES = new HashSet<>();
    private static final Map<Thread, String> LAST = new HashMap<>();
    private static int moves;
    private static int methods;
    private static int questions;
    private static int frames;

    private Tally() {}

    /**
     * What one step entered.
     *
     * @param questions how often the driver was asked
     * @param frames how many stack frames were above the driver, at most
     */
    record Course(int classes, int moves, int methods, int questions, int frames) {}

    /** Called first in each method of core. */
    public static void enter(String className) {
        synchronized (LOCK) {
            methods++;
            CLASSES.add(className);
            if (!className.equals(LAST.put(Thread.currentThread(), className))) {
                moves++;
            }
        }
    }

    /** Called when the driver is asked, which has {@code above} stack frames above it. */
    public static void ask(int above) {
        synchronized (LOCK) {
            questions++;
            frames = Math.max(frames, above);
        }
    }

    /** Counts what {@code code} enters, on any thread, until nothing has been entered for {@code quietMillis}. */
    public static <T> T count(String step, long quietMillis, Callable<T> code) throws Exception {
        synchronized (LOCK) {
            CLASSES.clear();
            LAST.clear();
            moves = methods = questions = frames = 0;
        }
        T result = code.call();
        awaitQuiet(quietMillis);
        synchronized (LOCK) {
            ROUNDS.computeIfAbsent(step, name -> new ArrayList<>())
                    .add(new Course(CLASSES.size(), moves, methods, questions, frames));
        }
        return result;
    }

    private static void awaitQuiet(long millis) throws InterruptedException {
        for (int before = -1; before != methods(); ) {
            before = methods();
            Thread.sleep(millis); // the quiet itself is what is waited for: nothing tells that no more follows
        }
    }

    private static int methods() {
        synchronized (LOCK) {
            return methods;
        }
    }

    static Map<String, List<Course>> rounds() {
        return ROUNDS;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.it.run.Tally.Course;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * How much of core a reader meets when the code runs: the classes entered (nested ones count as their outermost), the
 * moves from one class to another on the same thread, and the methods entered. The body of a lambda is a method; the
 * object that the JVM makes for it has none. The limits are 3 % above the figures of the day on which they were set.
 *
 * <p>A timer that comes due, or a task that arrives just after the engine's thread has looked, adds to a round; a
 * machine that stands still may end the count too early; now and then the calling thread runs what the server
 * answered, with all its frames. So the third lowest figure of thirty rounds is what counts.
 */
class RunGatesIT {
    private static final int ROUNDS = 30;
    private static Map<String, List<Course>> rounds;

    @BeforeAll
    static void run() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            Method run = new CountingLoader()
                    .loadClass(Run.class.getName())
                    .getDeclaredMethod("run", String.class, int.class);
            run.setAccessible(true);
            run.invoke(null, server.connectString(), ROUNDS);
        }
        rounds = Tally.rounds();
    }

    private static Course course(String step) {
        List<Course> all = rounds.get(step);
        return new Course(
                third(all, Course::classes),
                third(all, Course::moves),
                third(all, Course::methods),
                third(all, Course::questions),
                third(all, Course::frames));
    }

    private static int third(List<Course> all, ToIntFunction<Course> figure) {
        return all.stream().mapToInt(figure).sorted().skip(2).findFirst().orElseThrow();
    }

    /** On a machine with much else to do the engine is found awake in nearly all rounds: one method more. */
    @Test
    void uncontendedAcquire_isShort() {
        requireAtMost(new Course(54, 312, 447, 1, 19), course("acquire"));
    }

    @Test
    void acquireOnAKnownQueue_isShort() {
        requireAtMost(new Course(49, 258, 372, 1, 17), course("acquire on a known queue"));
    }

    @Test
    void release_isShort() {
        requireAtMost(new Course(32, 126, 188, 0, 0), course("release"));
    }

    /**
     * From the call to the watch on the node in front. Whether the engine finds two of the tasks at once makes a
     * difference of five methods.
     */
    @Test
    void wait_isShort() {
        requireAtMost(new Course(50, 412, 668, 1, 19), course("wait"));
    }

    private static void requireAtMost(Course limit, Course course) {
        assertThat(course)
                .satisfies(
                        found -> assertThat(found.classes()).as("classes").isLessThanOrEqualTo(limit.classes()),
                        found -> assertThat(found.moves())
                                .as("moves between classes")
                                .isLessThanOrEqualTo(limit.moves()),
                        found -> assertThat(found.methods())
                                .as("methods entered")
                                .isLessThanOrEqualTo(limit.methods()),
                        found -> assertThat(found.questions())
                                .as("questions to the driver")
                                .isLessThanOrEqualTo(limit.questions()),
                        found -> assertThat(found.frames())
                                .as("frames above the driver")
                                .isLessThanOrEqualTo(limit.frames()));
    }
}

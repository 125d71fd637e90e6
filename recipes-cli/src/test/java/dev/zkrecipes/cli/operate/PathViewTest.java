// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.operate.PathView.Limit;
import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.Recipe;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.NodeData;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathViewTest {
    private static final String ID = "0123456789abcdef0123456789abcdef-";
    private static final String CURATORS_ID = "_c_01234567-89ab-cdef-0123-456789abcdef-";

    private static Optional<Content> content(long session, String data) {
        Stat stat = new Stat();
        stat.setEphemeralOwner(session);
        return Optional.of(new Content(data.getBytes(StandardCharsets.UTF_8), stat));
    }

    /** What stands on a path with these children and these data, each node of a session of its own. */
    private static PathView view(String data, String... names) {
        Map<String, Optional<Content>> children = new LinkedHashMap<>();
        for (String name : names) {
            children.put(ID + name, content(children.size() + 1, ""));
        }
        return PathView.of("/x", data.getBytes(StandardCharsets.UTF_8), children);
    }

    private static String limit(int configured, int current) {
        return "zkrecipes 1\nconfigured=" + configured + "\ncurrent=" + current + "\n";
    }

    /** How the nodes stand, in order: H, W and U. */
    private static String states(PathView view) {
        return view.places().stream()
                .map(place -> place.state().name().substring(0, 1))
                .collect(Collectors.joining());
    }

    private static Place only(String name, String data) {
        PathView view = PathView.of("/x", new byte[0], Map.of(name, content(1, data)));
        assertThat(view.places()).hasSize(1);
        return view.places().get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "lock-0000000042, MUTEX, lock-, '', 42",
        "latch-0000000042, LATCH, latch-, '', 42",
        "__READ__0000000001, READ_WRITE, __READ__, '', 1",
        "__WRIT__0000000001, READ_WRITE, __WRIT__, '', 1",
        "lease.3-0000000007, SEMAPHORE, lease., 3, 7",
        "lease.3--000000007, SEMAPHORE, lease., 3, -7",
        "lease-0000000007, CURATOR_SEMAPHORE, lease-, '', 7",
        "range.10~20-0000000007, UNKNOWN, range., 10~20, 7",
        "lease.0-0000000007, UNKNOWN, lease., 0, 7",
        "lock-2147483647, MUTEX, lock-, '', 2147483647",
        "lock--2147483648, MUTEX, lock-, '', -2147483648",
        "ticket#0000000003, UNKNOWN, ticket#, '', 3"
    })
    void lockNode_isRecognised_whateverTheLibrary(
            String rest, Recipe recipe, String kind, String payload, long number) {
        for (String id : new String[] {ID, CURATORS_ID, ""}) {
            assertThat(PathView.mayBeLockNode(id + rest)).isTrue();
            assertThat(only(id + rest, "").node()).isEqualTo(new LockNode(id + rest, kind, payload, number));
            assertThat(PathView.of("/x", new byte[0], Map.of(id + rest, content(1, "")))
                            .recipe())
                    .isEqualTo(recipe);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"locks", "leases", "0000000001", "lock-1", "a-b", "lock-000000000x", "12345678901"})
    void anyOtherChild_isNone(String name) {
        assertThat(PathView.mayBeLockNode(name)).isFalse();
        PathView view = PathView.of("/x", new byte[0], Map.of(name, content(1, "")));
        assertThat(view.recipe()).isEqualTo(Recipe.NONE);
        assertThat(view.places()).isEmpty();
    }

    @Test
    void nodeOfUnknownKind_countsIfASessionOwnsIt() {
        Map<String, Optional<Content>> children = Map.of(
                "job-0000000001", content(0, ""),
                "job-0000000002", content(7, ""),
                "job-0000000003", Optional.empty());
        assertThat(PathView.of("/x", new byte[0], children).places())
                .extracting(place -> place.node().number())
                .containsExactly(2L, 3L);
        assertThat(only("lock-0000000001", "").state()).isEqualTo(State.HOLDS);
    }

    @ParameterizedTest
    @CsvSource({
        "lock-0000000007 lock-0000000003 lock-0000000010, HWW",
        "latch-0000000007 latch-0000000003, HW",
        "__READ__0000000001 __READ__0000000002 __WRIT__0000000003 __READ__0000000004, HHWW",
        "__WRIT__0000000001 __READ__0000000001 __READ__0000000002, HHW",
        "lock-0000000001 __READ__0000000002, UU",
        "range.5~9-0000000002 range.1~3-0000000001, UU",
        "lease.1-0000000001, U",
        "lock-0000000001 lock-2147483647, WW"
    })
    void holders_areThoseOfTheRule(String names, String states) {
        assertThat(states(view("", names.split(" ")))).isEqualTo(states);
    }

    @ParameterizedTest
    @CsvSource({"3, HHW", "5, HHH", "2, HWW", "1, HHW"})
    void permitsWithinTheLimit_areHeldInOrder(int current, String states) {
        PathView view = view(limit(3, current), "lease.1-0000000001", "lease.2-0000000002", "lease.1-0000000003");
        assertThat(view.recipe()).isEqualTo(Recipe.SEMAPHORE);
        assertThat(view.limit()).contains(new Limit(3, current, current));
        assertThat(view.places()).extracting(Place::permits).containsExactly(1, 2, 1);
        assertThat(states(view)).isEqualTo(states); // what asks for more than the limit was let in by an earlier one
    }

    /** Whether they came before the resize, or after it, is not in the nodes. */
    @Test
    void permitsWithinAnEarlierLimitOnly_mayBeHeld() {
        PathView view =
                view(limit(3, 1) + "earlier=3\n", "lease.1-0000000001", "lease.2-0000000002", "lease.1-0000000003");
        assertThat(view.limit()).contains(new Limit(3, 1, 3));
        assertThat(states(view)).isEqualTo("HHW");
        assertThat(states(view(limit(3, 1) + "earlier=3\n", "lease.1-0000000001", "lease.1-2147483647")))
                .isEqualTo("WU"); // the newest of an exhausted counter comes first, and is granted nothing
        assertThat(states(view(limit(3, 1) + "earlier=4\n", "lease.1-0000000001", "lease.1-0000000002")))
                .isEqualTo("HU");
    }

    @Test
    void recipe_isThatOfAllNodes_orOfTheData() {
        assertThat(view(limit(3, 3)).recipe()).isEqualTo(Recipe.SEMAPHORE);
        assertThat(view("").recipe()).isEqualTo(Recipe.NONE);
        PathView mixed = view(limit(3, 3), "lock-0000000001", "lease.1-0000000002");
        assertThat(mixed.recipe()).isEqualTo(Recipe.MIXED);
        assertThat(mixed.limit()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "zkrecipes 1\n",
                "zkrecipes 2\nconfigured=3\ncurrent=5\n",
                "zkrecipes 1\nconfigured=3\ncurrent=0\n",
                "zkrecipes 1\nconfigured=03\ncurrent=5\n",
                "zkrecipes 1\nowner=x\n"
            })
    void dataWithoutALimit_areThoseOfNoSemaphore(String data) {
        assertThat(view(data).recipe()).isEqualTo(Recipe.NONE);
    }

    /** That is what the engine says, too: {@code InterProcessLock#participants()}. */
    @Test
    void holdersOfAMutex_areThoseOfTheEngine() {
        Random random = new Random(7);
        LockSpec spec = new LockSpec(List.of(), "/x", new MutexDriver(), LockOptions.defaults());
        for (int i = 0; i < 1_000; i++) {
            String[] names = Stream.generate(() -> String.format("lock-%010d", random.nextInt(12) - 2))
                    .limit(random.nextInt(5))
                    .distinct()
                    .toArray(String[]::new);
            Set<LockNode> holding =
                    new LockQueue(spec, Stream.of(names).map(ID::concat).toList(), null).holding();
            assertThat(view("", names).places().stream()
                            .filter(place -> place.state() == State.HOLDS)
                            .map(Place::node))
                    .as(Arrays.toString(names))
                    .containsExactlyInAnyOrderElementsOf(holding);
        }
    }

    @Test
    void longQueue_isReadInOnePass() {
        String[] names = IntStream.range(0, 100_000)
                .mapToObj(i -> String.format("__READ__%010d", i))
                .toArray(String[]::new);
        assertThat(view("", names).places()).allMatch(place -> place.state() == State.HOLDS);
    }

    @Test
    void ownerAndRequests_areReadFromTheData() {
        Place place = only(
                ID + "lock-0000000001",
                "zkrecipes 1\nowner=a b=c\u001b\nnew=line\nrevoke=ab 1500 ops one\nrevoke=cd - \n");
        assertThat(place.owner()).isEqualTo("a b=c\\u001b");
        assertThat(place.requests())
                .containsExactly(
                        new RevocationRequest("ab", "ops one", Optional.of(Duration.ofMillis(1500))),
                        new RevocationRequest("cd", "unknown", Optional.empty()));
        assertThat(only("lock-0000000001", "10.0.0.7").owner()).isEqualTo("10.0.0.7");
        assertThat(only("lock-0000000001", "__REVOKE__").requests()).hasSize(1);
    }

    @Test
    void unreadableNode_hasItsNameOnly() {
        PathView view = PathView.of("/x", new byte[0], Map.of("lock-0000000001", Optional.empty()));
        assertThat(view.places())
                .containsExactly(new Place(
                        new LockNode("lock-0000000001", "lock-", "", 1),
                        State.HOLDS,
                        1,
                        NodeData.UNREAD,
                        Optional.empty()));
    }

    private static PathView curators(String name, Object... numbersAndSessions) {
        Map<String, Optional<Content>> children = new LinkedHashMap<>();
        for (int i = 0; i < numbersAndSessions.length; i += 2) {
            children.put(CURATORS_ID + numbersAndSessions[i], content((int) numbersAndSessions[i + 1], ""));
        }
        return PathView.of("/x/" + name, new byte[0], children);
    }

    private static Optional<PathView> semaphore(PathView leases, PathView locks) {
        return PathView.ofCuratorSemaphore("/x", leases, locks);
    }

    @Test
    void leasesOfCuratorsSemaphore_areHeld() {
        PathView view = semaphore(curators("leases", "lease-0000000001", 1, "lease-0000000002", 2), curators("locks"))
                .orElseThrow();
        assertThat(view.recipe()).isEqualTo(Recipe.CURATOR_SEMAPHORE);
        assertThat(states(view)).isEqualTo("HH");
        assertThat(view.places().get(0).node().name()).startsWith("leases/_c_");
    }

    @Test
    void newestLeaseOfTheSessionWithTheMutex_mayWait_andIsListedOnce() {
        PathView view = semaphore(
                        curators("leases", "lease-0000000001", 1, "lease-0000000002", 2),
                        curators("locks", "lock-0000000005", 2, "lock-0000000006", 3))
                .orElseThrow();
        assertThat(states(view)).isEqualTo("HUW");
        assertThat(view.places().get(1).node().name()).startsWith("leases/_c_").endsWith("lease-0000000002");
        assertThat(view.places().get(2).node().name()).startsWith("locks/_c_").endsWith("lock-0000000006");
        PathView before = semaphore(curators("leases", "lease-0000000001", 1), curators("locks", "lock-0000000005", 2))
                .orElseThrow();
        assertThat(states(before)).isEqualTo("HW");
    }

    @Test
    void foldersWithOtherContents_areNoSemaphore() {
        PathView locks = curators("locks", "lock-0000000005", 2);
        assertThat(semaphore(curators("leases", "lock-0000000001", 1), locks)).isEmpty();
        assertThat(semaphore(curators("leases"), curators("locks"))).isEmpty();
        assertThat(semaphore(curators("leases"), curators("locks", "lease-0000000001", 1)))
                .isEmpty();
    }
}

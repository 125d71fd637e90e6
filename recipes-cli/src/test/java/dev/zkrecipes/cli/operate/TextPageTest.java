// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.operate.Tree.Lock;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.cli.text.Terminal;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextPageTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final String OF_THREE = "zkrecipes 1\nconfigured=3\ncurrent=3\n";

    /** A path with nodes of five seconds ago, of sessions 1, 2 and so on. */
    private static Lock lock(String path, String data, String... namesAndOwners) {
        Map<String, Optional<Content>> children = new LinkedHashMap<>();
        for (int i = 0; i < namesAndOwners.length; i += 2) {
            Stat stat = new Stat();
            stat.setCtime(NOW.minusSeconds(5).toEpochMilli());
            stat.setEphemeralOwner(i / 2 + 1);
            children.put(
                    namesAndOwners[i],
                    Optional.of(new Content(namesAndOwners[i + 1].getBytes(StandardCharsets.UTF_8), stat)));
        }
        PathView view = PathView.of(path, data.getBytes(StandardCharsets.UTF_8), children);
        return new Lock(view, true, Tree.notesOn(view));
    }

    private static Tree tree(Instant seen, Lock... locks) {
        return new Tree("/x", locks.length > 1, seen, List.of(locks), List.of(), Map.of());
    }

    private static List<String> page(Lock... locks) {
        return TextPage.of(tree(NOW, locks), NOW);
    }

    @Test
    void queue_isATable_inWords() {
        assertThat(page(lock("/x", OF_THREE, "lease.2-0000000009", "alice", "lease.12-0000000010", "bob")))
                .containsExactly(
                        "/x: semaphore of 3 permits, 2 hold 14, 0 wait",
                        "PLACE  STATE  WANTS       QUEUED  SESSION  OWNER  NODE",
                        "    0  holds  2 permits   5s ago  0x1      alice  lease.2-0000000009",
                        "    1  holds  12 permits  5s ago  0x2      bob    lease.12-0000000010");
    }

    @ParameterizedTest
    @CsvSource({
        "lock-, lock, mutex",
        "latch-, leadership, leader election",
        "__READ__, read, read-write lock",
        "__WRIT__, write, read-write lock",
        "lease.1-, 1 permit, semaphore",
        "lease-, 1 permit, Curator's semaphore",
        "range.1~9-, range.1~9, unknown recipe"
    })
    void whatANodeWants_isSaidInWords(String kind, String wanted, String recipe) {
        List<String> page = page(lock("/x", "", kind + "0000000001", "alice"));
        assertThat(page.get(0)).startsWith("/x: " + recipe + ", ");
        assertThat(page.get(2)).containsPattern(" (holds|leads|\\?) +" + Pattern.quote(wanted) + " +5s ago");
    }

    /** ZooKeeper tells only when a node was made. */
    @Test
    void grant_isToldIfItWasSeen() {
        Tree first = tree(NOW, lock("/x", "", "lock-0000000001", "alice", "lock-0000000002", "bob"));
        assertThat(TextPage.of(first, NOW).get(1)).doesNotContain("GRANTED");
        Tree second = tree(NOW.plusSeconds(60), lock("/x", "", "lock-0000000002", "bob", "lock-0000000003", "eve"))
                .after(first);
        assertThat(TextPage.of(second, NOW.plusSeconds(62)))
                .containsExactly(
                        "/x: mutex, 1 holds, 1 waits",
                        "PLACE  STATE  WANTS     QUEUED  GRANTED  SESSION  OWNER  NODE",
                        "    0  holds  lock   1m07s ago   2s ago  0x1      bob    lock-0000000002",
                        "    1  waits  lock   1m07s ago           0x2      eve    lock-0000000003");
        Tree both = tree(NOW.plusSeconds(61), second.lock(), lock("/y", "", "lock-0000000001", "dan"))
                .after(second);
        assertThat(TextPage.of(both, NOW.plusSeconds(62)))
                .anyMatch(line -> line.endsWith("  bob (granted 2s ago)"))
                .anyMatch(line -> line.endsWith("  dan (granted 1s ago)"));
    }

    @Test
    void requestToGiveBack_isRemarked() {
        String data = "zkrecipes 1\nowner=alice\nrevoke=a 90000 ops\nrevoke=b - cron\n";
        assertThat(page(lock("/x", "", "lock-0000000001", data)))
                .anyMatch(line -> line.endsWith("  asked back by ops, broken after 1m30s; asked back by cron"));
    }

    @Test
    void foreignText_cannotForgeALineOrMoveTheCursor() {
        String data = "zkrecipes 1\nowner=x\r/forged: free\u001b[2J\u202e\u009b\nrevoke=a 1 \r\u2028\n";
        List<String> page = page(lock("/x", "", "k\u001b\u202e#0000000001", data));
        assertThat(String.join("", page).codePoints()).allMatch(PlainText::isPlain);
        assertThat(page).hasSize(4);
    }

    @Test
    void freeLock_isSaidToBeFree() {
        assertThat(page(lock("/x", ""))).containsExactly("/x: free");
        assertThat(page(lock("/x", OF_THREE))).containsExactly("/x: semaphore of 3 permits, free");
    }

    @ParameterizedTest
    @CsvSource({
        "lock-0000000001 __READ__0000000002, 'nodes of several recipes (__READ__, lock-) share this path'",
        "range.1~3-0000000001, zklock does not know the rule of range.",
        "lease.1-0000000001, the data of the path are not the limit of a semaphore",
        "lock-0000000001 lock-2147483647, the sequence counter of the path is exhausted",
        "lease-0000000001, Curator keeps the limit in the code of its users"
    })
    void whatIsUnusual_isNoted(String names, String note) {
        String[] nodes = Stream.of(names.split(" "))
                .flatMap(name -> Stream.of(name, "alice"))
                .toArray(String[]::new);
        List<String> page = page(lock("/x", "", nodes));
        assertThat(page.get(page.size() - 1)).startsWith("note: " + note);
        assertThat(page).filteredOn(line -> line.startsWith("note: ")).hasSize(1);
    }

    @Test
    void tree_hasALineForEachLock() {
        List<String> leases = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            leases.addAll(List.of("lease.1-000000000" + i, "owner " + i));
        }
        Lock mutex = lock("/x/a", "", "lock-0000000001", "alice", "lock-0000000002", "bob");
        Lock many = lock("/x/b", "zkrecipes 1\nconfigured=9\ncurrent=9\n", leases.toArray(String[]::new));
        assertThat(page(mutex, many))
                .containsExactly(
                        "/x: 2 locks, 2 held",
                        "PATH  RECIPE                  HOLD  WAIT  ?  HELD BY",
                        "/x/a  mutex                      1     1  0  alice (queued 5s ago)",
                        "/x/b  semaphore of 9 permits     5     0  0  owner 0 (queued 5s ago),"
                                + " owner 1 (queued 5s ago), owner 2 (queued 5s ago) and 2 more");
    }

    @ParameterizedTest
    @CsvSource({"-1, 0s", "0, 0s", "59999, 59s", "60000, 1m00s", "3599000, 59m59s", "3600000, 1h00m", "90000000, 1d01h"
    })
    void age_hasTwoUnits(long millis, String shown) {
        assertThat(TextPage.age(Duration.ofMillis(millis))).isEqualTo(shown);
    }

    @Test
    void frame_fitsTheTerminal() {
        List<String> lines = List.of("12345678", "b", "c", "d", "e");
        assertThat(Screen.frame(lines, new Terminal.Size(5, 6)))
                .isEqualTo("\033[H123456\033[K\r\nb\033[K\r\nc\033[K\r\n... 2 \033[K\r\n\033[J");
        assertThat(Screen.frame(lines, new Terminal.Size(6, 80)))
                .contains("e\033[K\r\n")
                .doesNotContain("more");
    }
}

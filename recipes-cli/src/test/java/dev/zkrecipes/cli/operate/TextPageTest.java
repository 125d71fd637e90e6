// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static dev.zkrecipes.cli.operate.Listed.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.text.PlainText;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextPageTest {
    private static List<String> page(Queue queue) {
        return TextPage.of(new TreeView(queue.path(), false, NOW, List.of(queue.view()), List.of()));
    }

    @Test
    void queue_isATable() {
        Queue queue = new Queue(
                "/semaphores/imports",
                List.of(
                        Listed.node("a-lease.2-0000000009", 0x10, new NodeData("alice", List.of())),
                        Listed.node("lease.12-0000000010", 0xabcdef, new NodeData("bob", List.of()))),
                Optional.of(new Limit(13, 13)));
        // a-lease.2- is of no known form: an id is missing or whole.
        assertThat(page(queue).get(0)).startsWith("/semaphores/imports: several recipes");
        Queue known = new Queue(
                "/semaphores/imports",
                List.of(
                        Listed.node("lease.2-0000000009", 0x10, new NodeData("alice", List.of())),
                        Listed.node("lease.12-0000000010", 0xabcdef, new NodeData("bob", List.of()))),
                Optional.of(new Limit(13, 13)));
        assertThat(page(known))
                .containsExactly(
                        "/semaphores/imports: semaphore of 13 permits, 1 holds 2, 1 waits for 12",
                        "PLACE  STATE  KIND    WEIGHT  AGE  SESSION   OWNER  NODE",
                        "    0  holds  lease.       2   5s  0x10      alice  lease.2-0000000009",
                        "    1  waits  lease.      12   5s  0xabcdef  bob    lease.12-0000000010");
    }

    @Test
    void requestToGiveBack_isRemarked() {
        NodeData data = new NodeData(
                "alice",
                List.of(
                        new GiveBackRequest("ops", Optional.of(Duration.ofSeconds(90))),
                        new GiveBackRequest("cron", Optional.empty())));
        Queue queue = new Queue("/x", List.of(Listed.node("lock-0000000001", 1, data)), Optional.empty());
        assertThat(page(queue))
                .anyMatch(line -> line.endsWith("  asked back by ops, broken after 1m30s; asked back by cron"));
    }

    @Test
    void foreignText_cannotForgeALineOrMoveTheCursor() {
        NodeData data = new NodeData(
                "x\n/forged: free\u001b[2J\u202e\u009b", List.of(new GiveBackRequest("\r\u2028", Optional.empty())));
        Queue queue = new Queue("/x", List.of(Listed.node("k\u001b\u202e#0000000001", 1, data)), Optional.empty());
        assertThat(String.join("", page(queue)).codePoints()).allMatch(PlainText::isPlain);
        assertThat(page(queue)).hasSize(4);
    }

    @Test
    void freeLock_isSaidToBeFree() {
        assertThat(page(Listed.queue())).containsExactly("/locks/x: free");
        assertThat(page(Listed.queue(Optional.of(new Limit(1, 1)))))
                .containsExactly("/locks/x: semaphore of 1 permit, free");
    }

    @Test
    void tree_hasALineForEachLock() {
        LockView mutex = Listed.queue("lock-0000000001", "lock-0000000002").view();
        LockView many = Listed.queue(
                        Optional.of(new Limit(9, 9)),
                        IntStream.range(0, 5)
                                .mapToObj(i -> "lease.1-000000000" + i)
                                .toArray(String[]::new))
                .view();
        TreeView view = new TreeView("/locks", true, NOW, List.of(mutex, many), List.of("no right to read /locks/y"));
        assertThat(TextPage.of(view))
                .containsExactly(
                        "/locks: 2 locks, 2 held",
                        "PATH      RECIPE                  HOLD  WAIT  ?  HELD BY",
                        "/locks/x  mutex                      1     1  0  owner 1 (5s)",
                        "/locks/x  semaphore of 9 permits     5     0  0"
                                + "  owner 1 (5s), owner 1 (5s), owner 1 (5s) and 2 more",
                        "note: no right to read /locks/y");
    }

    @ParameterizedTest
    @CsvSource({"0, 0s", "59999, 59s", "60000, 1m00s", "3599000, 59m59s", "3600000, 1h00m", "90000000, 1d01h"})
    void age_hasTwoUnits(long millis, String shown) {
        assertThat(Ages.show(Duration.ofMillis(millis))).isEqualTo(shown);
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What others write reaches messages and logs only in a form that cannot forge a line; what we write is no secret. */
class UntrustedTextIT extends ServerStage {
    private ZooKeeperClient client;
    private InterProcessMutex mutex;

    @BeforeEach
    void connect() throws InterruptedException {
        client = opened(Identity.connected(settings().ownerLabel("orders 7")));
        mutex = new InterProcessMutex(client, path);
        server.createNode(path, new byte[0]);
    }

    private static void assertOneShortPlainLine(String text) {
        assertThat(text.codePoints()).allMatch(c -> switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        });
        assertThat(text).hasSizeLessThan(3000);
    }

    @Test
    void nodeData_isOnlyTheLabel() throws Exception {
        try (Lease lease = mutex.acquire()) {
            Soon.await().until(lease::isValid);
            assertThat(server.data(path + "/" + server.children(path).get(0)).orElseThrow())
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo("zkrecipes 1\nowner=orders 7\n");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x\n2026-01-01 ERROR forged\r\n\u001b[2J\u0000\u0085",
                "zkrecipes 1\nowner=x\u001b[31m\r\u202egnp.exe\u2028forged\u2029\u200b\n",
                "long"
            })
    void owners_areShownOnOneLine(String data) throws Exception {
        String written = data.equals("long") ? "zkrecipes 1\nowner=" + "\u202e".repeat(100_000) : data;
        server.createNode(path + "/lock-0000000001", written.getBytes(StandardCharsets.UTF_8));
        Participant participant = mutex.participants().get(0);
        assertOneShortPlainLine(participant.owner());
        assertOneShortPlainLine(participant.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u2028b\u2029-0000000001", "a\u202e\u200b-0000000001", "long"})
    void namesOfForeignNodes_areShownOnOneLine(String given) throws Exception {
        String name = given.equals("long") ? "\u2028".repeat(10_000) + "-0000000001" : given;
        client.zooKeeper()
                .orElseThrow()
                .create(path + "/" + name, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        IncompatibleNodeException refusal = catchThrowableOfType(IncompatibleNodeException.class, mutex::acquire);
        assertOneShortPlainLine(refusal.getMessage());
        assertThat(refusal).hasMessageContaining("\\u202");
    }

    @Test
    void namesOfThreads_areShownOnOneLine() throws Exception {
        Lease lease = mutex.acquire();
        CompletableFuture<String> message = new CompletableFuture<>();
        Thread other = new Thread(
                () -> message.complete(catchThrowableOfType(IllegalMonitorStateException.class, mutex::release)
                        .getMessage()));
        other.setName("worker\nERROR forged");
        other.start();
        assertOneShortPlainLine(Soon.get(message));
        lease.close();
    }
}

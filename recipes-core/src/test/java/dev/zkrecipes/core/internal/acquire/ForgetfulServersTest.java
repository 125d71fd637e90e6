// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.Session;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that have lost data number their transactions again from below, which is told, as tokens are made of them. */
@Tag("H122")
class ForgetfulServersTest extends AcquireFixture {

    private LockGroup group(int paths) {
        return paths == 1
                ? LockGroup.of(spec(new TestDriver("lock-")))
                : together(LockOptions.defaults(), "/locks/a", "/locks/b");
    }

    private String printedByACycle(int paths) {
        return PrintedWhile.running(() -> {
            AcquireLoop loop = launched(group(paths), Mode.QUEUE);
            scheduler.run();
            loop.outcome().join().orElseThrow().release();
            scheduler.run();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void lowerTransactionIds_areToldOnce(int paths) {
        operations.count(100);
        assertThat(printedByACycle(paths)).isEmpty();
        assertThat(printedByACycle(paths)).isEmpty();
        operations.count(5);
        assertThat(printedByACycle(paths))
                .containsOnlyOnce("The ZooKeeper servers know less than this client has seen")
                .contains("lost or restored", "Fencing tokens begin below the old ones", "docs/operations.md");
        assertThat(printedByACycle(paths)).isEmpty();
    }

    @Test
    void lowerTransactionIds_areToldWithANewPath() {
        operations.count(100);
        assertThat(printedByACycle(1)).isEmpty();
        operations.count(5);
        operations.refuse(Request.CREATE, Code.NONODE);
        assertThat(printedByACycle(1)).contains("The ZooKeeper servers know less than this client has seen");
    }

    /** Answers of two sessions may come in another order than their transactions. */
    @Test
    void requestsThatCross_proveNothing() {
        Requests requests = engine.requests();
        CreateNodes older = new CreateNodes(requests, group(1), session(), List.of());
        assertThat(PrintedWhile.running(() -> {
                    older.send(answer -> {});
                    requests.made(older.nodes.get(0), 1000, requests.newest());
                    scheduler.run();
                }))
                .isEmpty();
    }

    private Session session() {
        return assertGranted(queueing()).node().session();
    }
}

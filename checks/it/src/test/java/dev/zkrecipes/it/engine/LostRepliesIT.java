// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** P6: unknown outcomes, one after the other. Each fault costs a second to reconnect, so the cases run concurrently. */
@Execution(ExecutionMode.CONCURRENT)
class LostRepliesIT extends ServerStage {
    private static final Pattern SPACE = Pattern.compile(" ");

    /** Each letter is the fault of one request in turn: R loses the request, A its answer after it was applied. */
    @ParameterizedTest
    @CsvSource({
        "CREATE2:R",
        "CREATE2:A",
        "CREATE2:R CREATE2:A",
        "CREATE2:A MULTI:A",
        "CREATE2:A MULTI:R",
        "CREATE2:A GET_CHILDREN2:A",
        "CREATE2:A GET_DATA:A",
        "CREATE2:A GET_DATA:R",
        "CREATE2:R MULTI:A CREATE2:A MULTI:A GET_DATA:A"
    })
    @Tag("H21")
    @Tag("H06")
    void lostRequestsAndReplies_leaveOneNodeAndAGrant(String faults) throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = client(proxy);
        ZooKeeperClient other = client();
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
        CompletableFuture<Void> armed = CompletableFuture.completedFuture(null);
        for (String fault : SPACE.splitAsStream(faults).toList()) {
            armed = armed.thenCompose(previous -> arm(proxy, fault).fired());
        }

        CompletableFuture<Lease> wanted = mutex.acquireAsync();
        armed.get(120, TimeUnit.SECONDS);
        Lease lease = wanted.get(120, TimeUnit.SECONDS);
        assertThat(server.children(path)).hasSize(1);
        lease.verify();
        lease.close();
        awaitNodes(0);
        new InterProcessMutex(other, path).acquire().close();
    }

    private static Fault arm(FaultProxy proxy, String fault) {
        RequestType type = RequestType.valueOf(fault.substring(0, fault.indexOf(':')));
        return fault.endsWith("R") ? proxy.dropRequest(type, 1) : proxy.dropReply(type, 1);
    }
}

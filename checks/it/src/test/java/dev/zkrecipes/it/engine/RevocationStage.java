// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** A mutex of a client behind a proxy, and another client that asks for it. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 100)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RevocationStage {
    /** A sixth of it is longer than any test: the regular check reveals nothing. */
    static final Duration LONG = Duration.ofSeconds(60);

    EmbeddedZooKeeper server;
    FaultProxy proxy;
    ZooKeeperClient holding; // behind the proxy
    ZooKeeperClient asking;
    Revoker revoker;
    String path;
    InterProcessMutex mutex;

    @BeforeAll
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        asking = connect(server.connectString(), LONG);
        revoker = new Revoker(asking);
    }

    @AfterAll
    void closeAll() {
        asking.close();
    }

    @BeforeEach
    void makeLock() throws InterruptedException {
        proxy = FaultProxy.to(server);
        holding = connect(proxy.connectString(), LONG);
        path = "/revocation-" + UUID.randomUUID();
        mutex = new InterProcessMutex(holding, path);
        mutex.acquire().close();
    }

    @AfterEach
    void close() {
        holding.close();
        proxy.close();
    }

    static ZooKeeperClient connect(String connectString, Duration session) throws InterruptedException {
        return connected(ZooKeeperClient.builder().connectString(connectString).sessionTimeout(session));
    }

    static ZooKeeperClient connected(ZooKeeperClientBuilder builder) throws InterruptedException {
        ZooKeeperClient client = builder.ownerLabel("somebody").build();
        assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
        return client;
    }

    static List<RevocationRequest> listen(Lease lease) {
        List<RevocationRequest> heard = new CopyOnWriteArrayList<>();
        lease.onRevocationRequested(heard::add);
        return heard;
    }

    String node() {
        return path + "/" + server.children(path).get(0);
    }

    String data(String node) {
        return new String(server.data(node).orElseThrow(), UTF_8);
    }

    Participant holder() throws InterruptedException {
        return mutex.participants().get(0);
    }

    static void assertRequests(RequestCounts spent, RequestType... expected) {
        assertThat(spent.consistsOf(expected)).as(spent.toString()).isTrue();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.faults.ServerLog.Life;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.jute.Record;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.txn.CloseSessionTxn;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.DeleteTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerLogTest {
    private static final long SESSION = 7;

    @TempDir
    private Path folder;

    private static Request request(long zxid, int type, Record what) {
        return new Request(SESSION, 0, type, new TxnHeader(SESSION, 0, zxid, 10 * zxid, type), what, zxid);
    }

    private static Request create(long zxid, String node) {
        return request(zxid, OpCode.create, new CreateTxn(node, new byte[0], Ids.OPEN_ACL_UNSAFE, true, 1));
    }

    private Path server(String name, List<Request> requests) throws IOException {
        Path logs = Files.createDirectories(folder.resolve(name).resolve("version-2"));
        try (FileTxnLog log = new FileTxnLog(logs.toFile())) {
            for (Request request : requests) {
                log.append(request);
            }
            log.commit();
        }
        return folder.resolve(name);
    }

    /** The leader may die with a transaction that nobody else has, or one of a server's may be in a snapshot only. */
    @Test
    void transactionOfAMinority_neverHappened() throws IOException {
        Request first = create(1, "/a");
        Request second = create(2, "/b");
        Request lost = request(3, OpCode.delete, new DeleteTxn("/a"));
        Request last = request(4, OpCode.delete, new DeleteTxn("/b"));
        List<Path> servers = new ArrayList<>();
        servers.add(server("1", List.of(first, second, lost)));
        servers.add(server("2", List.of(first, second, last)));
        servers.add(server("3", List.of(last)));
        assertThat(ServerLog.read(servers, 5).lives().values())
                .containsExactlyInAnyOrder(
                        new Life("/a", 1, 10_000_000 - 5, ServerLog.NEVER, ServerLog.NEVER),
                        new Life("/b", 2, 20_000_000 - 5, 4, 40_000_000 - 5));
    }

    @Test
    void nodesOfASession_endWithIt() throws IOException {
        Path server = server(
                "1", List.of(create(1, "/a"), request(2, OpCode.closeSession, new CloseSessionTxn(List.of("/a")))));
        assertThat(ServerLog.read(List.of(server), 0).lives())
                .containsEntry("/a", new Life("/a", 1, 10_000_000, 2, 20_000_000));
    }
}

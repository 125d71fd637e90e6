// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.jute.Record;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.DataTree.ProcessTxnResult;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.jspecify.annotations.Nullable;

/**
 * A request that the server sends to itself on behalf of an operator. It is processed like every other request, so it
 * is ordered, logged, and fires watches. But it has no connection and no session, and no ACL restricts it.
 */
final class OperatorRequest extends Request {
    /** A session id that no client ever has. */
    static final long NO_SESSION = 0;

    private static final List<Id> SUPER_USER = List.of(new Id("super", ""));

    private final CompletableFuture<ProcessTxnResult> result = new CompletableFuture<>();
    private final Runnable whenApplied;

    private OperatorRequest(long sessionId, int opCode, @Nullable RequestRecord body, Runnable whenApplied) {
        super(null, sessionId, 0, opCode, body, SUPER_USER);
        this.whenApplied = whenApplied;
    }

    static OperatorRequest of(int opCode, Record body) {
        return new OperatorRequest(NO_SESSION, opCode, RequestRecord.fromRecord(body), () -> {});
    }

    /** Returns a request in the name of a client's session. */
    static OperatorRequest inSession(long sessionId, int opCode) {
        return new OperatorRequest(sessionId, opCode, null, () -> {});
    }

    /**
     * Returns a request that runs an action on the last request processor of the server, when all earlier requests have
     * been applied and none is being applied.
     */
    static OperatorRequest running(int opCode, Runnable action) {
        return new OperatorRequest(NO_SESSION, opCode, null, action);
    }

    CompletableFuture<ProcessTxnResult> result() {
        return result;
    }

    /** Called on the last request processor of the server. */
    void applied(ProcessTxnResult applied) {
        KeeperException refusal = getException();
        if (refusal == null && applied.err != 0) {
            refusal = KeeperException.create(KeeperException.Code.get(applied.err));
        }
        if (refusal != null) {
            result.completeExceptionally(refusal);
            return;
        }
        try {
            whenApplied.run();
            result.complete(applied);
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;

/**
 * A transaction that the leader has prepared, in the order of the zxids. A refused write is a transaction, too: it
 * takes a zxid and is committed like the others.
 *
 * @param tree all nodes after the transaction
 * @param answer the answer to its requester
 * @param ends the session that it ends; 0 if none
 */
record Transaction(long zxid, NodeTree tree, List<Draft.Change> changes, Answer<?> answer, long ends) {

    static <T> Transaction of(Draft draft, SentRequest.Write<T> write, long ends) {
        Answer<T> answer = write.apply(draft);
        if (answer.code() != Code.OK) {
            draft.undo();
        }
        return new Transaction(draft.zxid(), draft.tree(), List.copyOf(draft.changes()), answer, ends);
    }
}

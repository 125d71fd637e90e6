// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CheckResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.DeleteResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.CheckVersionRequest;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.SetDataRequest;

/** What a {@code multi} does, in its two kinds: a transaction, or several reads of one moment. */
final class Operations {
    private Operations() {}

    static boolean areReads(List<Op> operations) {
        return operations.stream().allMatch(op -> op.getType() == OpCode.getChildren || op.getType() == OpCode.getData);
    }

    /** Each read has its own answer; the client takes the first failure as that of all. */
    static Answer<List<OpResult>> read(NodeTree tree, List<Op> operations) {
        List<OpResult> results = new ArrayList<>(operations.size());
        Code code = Code.OK;
        for (Op op : operations) {
            TreeNode node = tree.get(op.getPath());
            if (node == null) {
                code = Code.NONODE;
                results.add(new ErrorResult(code.intValue()));
            } else if (op.getType() == OpCode.getData) {
                results.add(new GetDataResult(node.data(), node.stat()));
            } else {
                results.add(new GetChildrenResult(tree.children(op.getPath())));
            }
        }
        return new Answer<>(code, results);
    }

    /** All or nothing; of a failed one the results tell which operation it was. */
    static Answer<List<OpResult>> write(Draft draft, List<Op> operations) {
        List<OpResult> results = new ArrayList<>(operations.size());
        for (int i = 0; i < operations.size(); i++) {
            Code code = apply(draft, operations.get(i), results);
            if (code != Code.OK) {
                return new Answer<>(code, failures(operations.size(), i, code));
            }
        }
        return Answer.ok(results);
    }

    private static Code apply(Draft draft, Op op, List<OpResult> results) {
        Object request = op.toRequestRecord();
        Code code;
        if (request instanceof CheckVersionRequest check) {
            code = draft.check(check.getPath(), check.getVersion());
            results.add(new CheckResult());
        } else if (request instanceof CreateRequest create) {
            CreateMode mode = mode(create.getFlags());
            code = draft.create(create.getPath(), create.getData(), create.getAcl(), mode);
            results.add(
                    code == Code.OK && mode.isContainer()
                            ? new CreateResult(draft.created(), draft.stat(draft.created()))
                            : new CreateResult(draft.created()));
        } else if (request instanceof DeleteRequest delete) {
            code = draft.delete(delete.getPath(), delete.getVersion());
            results.add(new DeleteResult());
        } else if (request instanceof SetDataRequest set) {
            code = draft.setData(set.getPath(), set.getData(), set.getVersion());
            results.add(code == Code.OK ? new SetDataResult(draft.stat(set.getPath())) : new CheckResult());
        } else {
            throw new IllegalArgumentException("the model knows no operation of type " + op.getType());
        }
        return code;
    }

    private static List<OpResult> failures(int count, int failed, Code code) {
        List<OpResult> results = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            Code told = i < failed ? Code.OK : i == failed ? code : Code.RUNTIMEINCONSISTENCY;
            results.add(new ErrorResult(told.intValue()));
        }
        return results;
    }

    private static CreateMode mode(int flags) {
        try {
            return CreateMode.fromFlag(flags);
        } catch (KeeperException e) {
            throw new IllegalArgumentException("no create mode has flags " + flags, e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;

/** A lock with an ACL of its own compares its path with one of its nodes, which were made with that ACL. */
class OwnAclTest extends AcquireFixture {

    private AcquireLoop launched() {
        return launched(
                Mode.QUEUE, new TestDriver("lock-"), LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL));
    }

    private AcquireLoop run() {
        AcquireLoop loop = launched();
        scheduler.run();
        return loop;
    }

    private void acquireAndRelease() {
        HeldNode held = assertGranted(run());
        Grant.of(held).release();
        scheduler.run();
    }

    @Test
    void firstLockOfASession_asksForTheAcls_laterOnesDoNot() {
        assertGranted(run());
        assertThat(operations.requests()).containsExactly(Request.MULTI, Request.ACL, Request.ACL, Request.LIST);
        run();
        assertThat(operations.requests()).startsWith(Request.CREATE, Request.LIST);
    }

    @Test
    void pathThatWasMadeAnew_isComparedAgain() {
        acquireAndRelease();
        operations.recreatePath(List.of());
        assertGranted(run());
        assertThat(operations.requests())
                .containsExactly(Request.CREATE, Request.LIST, Request.ACL, Request.ACL, Request.LIST);
    }

    @Test
    void pathWithOtherRights_isRefused_andNothingIsLeft() {
        operations.recreatePath(ZooDefs.Ids.OPEN_ACL_UNSAFE);
        AcquireLoop refused = run();
        assertThat(refused.outcome())
                .isCompletedExceptionally()
                .failsWithin(0, TimeUnit.SECONDS)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOf(LockAccessException.class)
                .withMessageContaining("lock /locks/orders: the path exists with the rights")
                .withMessageContaining("Delete the path");
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void nodeGoneBeforeItIsCompared_isMadeAgain() {
        operations.refuse(Request.ACL, Code.NONODE);
        AcquireLoop loop = launched();
        scheduler.run();
        scheduler.advance(timeout);
        assertGranted(loop);
        assertThat(operations.deleted()).hasSize(1); // the one that seemed to be gone
        assertThat(ours()).hasSize(1);
    }

    @Test
    void aclsLostWithTheConnection_areAskedForAgain() {
        operations.loseAnswerOf(Request.ACL);
        AcquireLoop loop = launched();
        scheduler.run();
        scheduler.advance(timeout.dividedBy(2));
        assertGranted(loop);
        assertThat(operations.requests())
                .startsWith(Request.MULTI, Request.ACL, Request.ACL, Request.LIST)
                .containsSubsequence(
                        Request.READ, Request.LIST, Request.ACL, Request.ACL, Request.LIST); // it is found again
    }

    @Test
    void missingPath_isMadeFirst() {
        operations.refuse(Request.MULTI, Code.NONODE);
        assertGranted(run());
        assertThat(operations.requests())
                .containsExactly(
                        Request.MULTI, Request.MAKE_PATH, Request.MULTI, Request.ACL, Request.ACL, Request.LIST);
    }
}

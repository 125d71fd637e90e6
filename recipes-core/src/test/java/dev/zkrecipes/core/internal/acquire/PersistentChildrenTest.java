// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.MutexDriver;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Children of a lock's path that have the form of lock nodes, and are other locks' paths. */
@Tag("H113")
class PersistentChildrenTest extends AcquireFixture {
    /** One in 281 of random UUIDs ends like this one. */
    private static final String DOCUMENT = "4d02-8a51-0b1234567890";

    private final LockDriver mutex = new MutexDriver();

    @Test
    void persistentChild_isAskedAboutOnce_andIgnored() {
        operations.addPersistent(DOCUMENT);
        assertGranted(queueing(mutex));
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.LIST, Request.ACL, Request.LIST);
        assertWaits(queueing(mutex));
        assertThat(operations.requests()).doesNotContain(Request.ACL);
    }

    @Test
    void tryOfAFreeLock_isNotDisturbed() {
        operations.addPersistent(DOCUMENT);
        AcquireLoop loop = launched(Mode.TRY, mutex, LockOptions.defaults());
        scheduler.run();
        assertGranted(loop);
    }

    @Test
    void manyAttemptsAtOnce_askAboutEachChildOnce() {
        int children = 1000;
        for (int i = 0; i < children; i++) {
            operations.addPersistent("invoice-" + String.format("%010d", i));
        }
        scheduler.run();
        operations.requests();
        List<AcquireLoop> loops = launchedTogether(50, mutex);
        scheduler.run();
        assertGranted(loops.get(0));
        List<Request> sent = operations.requests();
        assertThat(Collections.frequency(sent, Request.ACL)).isEqualTo(children);
        assertThat(Collections.frequency(sent, Request.LIST)).isLessThanOrEqualTo(3);
    }

    @Test
    void ephemeralStranger_isRefused_afterOneRead() {
        for (int i = 0; i < 100; i++) {
            operations.add("__lock__" + String.format("%010d", i));
        }
        assertFailed(queueing(mutex), IncompatibleNodeException.class, "__lock__0000000000");
        assertThat(Collections.frequency(operations.requests(), Request.ACL)).isEqualTo(1);
    }

    @Test
    void ephemeralStrangerAmongPersistentOnes_isRefused() {
        operations.addPersistent(DOCUMENT);
        operations.add("__lock__0000000001");
        operations.addPersistent("z-0000000002");
        assertFailed(queueing(mutex), IncompatibleNodeException.class, "looks like a lock node");
    }

    @Test
    void childThatMayNotBeRead_isRefused() {
        operations.addPersistent(DOCUMENT);
        operations.refuse(Request.ACL, Code.NOAUTH);
        assertFailed(queueing(mutex), IncompatibleNodeException.class, DOCUMENT);
    }

    @Test
    void lostAnswer_isAskedForAgain() {
        operations.addPersistent(DOCUMENT);
        operations.refuse(Request.ACL, Code.CONNECTIONLOSS);
        AcquireLoop loop = queueing(mutex);
        scheduler.advance(engine.settings().firstRetryDelay().multipliedBy(4));
        assertGranted(loop);
    }

    @Test
    void handleThatFails_isNoLockNode() {
        operations.addPersistent(DOCUMENT);
        operations.breakOn(Request.ACL);
        assertFailed(queueing(mutex), LockException.class, "the lock engine failed on ");
    }

    /** A name says nothing of a node that comes later. */
    @Test
    void nodeThatComesByTheNameOfOneThatWent_isAskedAboutAgain() {
        operations.addPersistent(DOCUMENT);
        operations.addPersistent("invoice-0000000001"); // which stays
        AcquireLoop first = queueing(mutex);
        operations.remove(DOCUMENT);
        queueing(mutex); // whose list does not show it
        operations.add(DOCUMENT);
        AcquireLoop third = queueing(mutex);
        assertThat(third.outcome()).isCompletedExceptionally();
        assertGranted(first);
    }

    /** They see lists that others have asked for. */
    @Test
    void waiters_areNotDisturbedByANewChild() {
        operations.add(OTHER);
        AcquireLoop loop = queueing(mutex);
        operations.addPersistent(DOCUMENT);
        queueing(mutex);
        operations.remove(OTHER);
        scheduler.run();
        assertGranted(loop);
    }
}

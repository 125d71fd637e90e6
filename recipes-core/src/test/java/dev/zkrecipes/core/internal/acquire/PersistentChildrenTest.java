// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.OTHER;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.assertWaits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
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
class PersistentChildrenTest {
    /** One in 281 of random UUIDs ends like this one. */
    private static final String DOCUMENT = "4d02-8a51-0b1234567890";

    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final ScriptedOperations operations = fixture.operations;
    private final LockDriver mutex = new MutexDriver();

    @Test
    void persistentChild_isAskedAboutOnce_andIgnored() {
        operations.addPersistent(DOCUMENT);
        fixture.assertGranted(fixture.queueing(mutex));
        assertThat(operations.requests()).containsExactly(Request.CREATE, Request.LIST, Request.ACL, Request.LIST);
        assertWaits(fixture.queueing(mutex));
        assertThat(operations.requests()).doesNotContain(Request.ACL);
    }

    @Test
    void tryOfAFreeLock_isNotDisturbed() {
        operations.addPersistent(DOCUMENT);
        AcquireLoop loop = fixture.launched(Mode.TRY, mutex, LockOptions.defaults());
        scheduler.run();
        fixture.assertGranted(loop);
    }

    @Test
    void manyAttemptsAtOnce_askAboutEachChildOnce() {
        int children = 1000;
        for (int i = 0; i < children; i++) {
            operations.addPersistent("invoice-" + String.format("%010d", i));
        }
        scheduler.run();
        operations.requests();
        List<AcquireLoop> loops = fixture.launchedTogether(50, mutex);
        scheduler.run();
        fixture.assertGranted(loops.get(0));
        List<Request> sent = operations.requests();
        assertThat(Collections.frequency(sent, Request.ACL)).isEqualTo(children);
        assertThat(Collections.frequency(sent, Request.LIST)).isLessThanOrEqualTo(3);
    }

    @Test
    void ephemeralStranger_isRefused_afterOneRead() {
        for (int i = 0; i < 100; i++) {
            operations.add("__lock__" + String.format("%010d", i));
        }
        fixture.assertFailed(fixture.queueing(mutex), IncompatibleNodeException.class, "__lock__0000000000");
        assertThat(Collections.frequency(operations.requests(), Request.ACL)).isEqualTo(1);
    }

    @Test
    void ephemeralStrangerAmongPersistentOnes_isRefused() {
        operations.addPersistent(DOCUMENT);
        operations.add("__lock__0000000001");
        operations.addPersistent("z-0000000002");
        fixture.assertFailed(fixture.queueing(mutex), IncompatibleNodeException.class, "looks like a lock node");
    }

    @Test
    void childThatMayNotBeRead_isRefused() {
        operations.addPersistent(DOCUMENT);
        operations.refuse(Request.ACL, Code.NOAUTH);
        fixture.assertFailed(fixture.queueing(mutex), IncompatibleNodeException.class, DOCUMENT);
    }

    @Test
    void lostAnswer_isAskedForAgain() {
        operations.addPersistent(DOCUMENT);
        operations.refuse(Request.ACL, Code.CONNECTIONLOSS);
        AcquireLoop loop = fixture.queueing(mutex);
        scheduler.advance(fixture.engine.settings().firstRetryDelay().multipliedBy(4));
        fixture.assertGranted(loop);
    }

    @Test
    void handleThatFails_isNoLockNode() {
        operations.addPersistent(DOCUMENT);
        operations.breakOn(Request.ACL);
        fixture.assertFailed(fixture.queueing(mutex), LockException.class, "the lock engine failed on ");
    }

    /** A name says nothing of a node that comes later. */
    @Test
    void nodeThatComesByTheNameOfOneThatWent_isAskedAboutAgain() {
        operations.addPersistent(DOCUMENT);
        operations.addPersistent("invoice-0000000001"); // which stays
        AcquireLoop first = fixture.queueing(mutex);
        operations.remove(DOCUMENT);
        fixture.queueing(mutex); // whose list does not show it
        operations.add(DOCUMENT);
        AcquireLoop third = fixture.queueing(mutex);
        assertThat(third.outcome()).isCompletedExceptionally();
        fixture.assertGranted(first);
    }

    /** They see lists that others have asked for. */
    @Test
    void waiters_areNotDisturbedByANewChild() {
        operations.add(OTHER);
        AcquireLoop loop = fixture.queueing(mutex);
        operations.addPersistent(DOCUMENT);
        fixture.queueing(mutex);
        operations.remove(OTHER);
        scheduler.run();
        fixture.assertGranted(loop);
    }
}

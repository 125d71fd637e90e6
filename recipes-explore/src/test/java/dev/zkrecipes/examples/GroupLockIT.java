// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The group lock on a server. */
class GroupLockIT extends CustomLockStage<GroupLock> {
    GroupLockIT(EmbeddedZooKeeper server, TestInfo test) {
        super(server, test, GroupLock::new);
    }

    @Test
    void membersOfOneGroup_holdTogether_othersDoNot() throws Exception {
        Lease one = granted(mine.lock("red"));
        Lease two = granted(yours.lock("red"));
        assertThat(yours.lock("green").tryAcquire()).isEmpty();
        one.close();
        assertThat(yours.lock("green").tryAcquire()).isEmpty();
        long token = two.fencingToken();
        two.close();
        Lease other = granted(yours.lock("green"));
        assertThat(other.fencingToken()).isGreaterThan(token);
        assertThat(mine.lock("red").tryAcquire()).isEmpty();
        other.close();
    }

    @Test
    void laterMemberOfTheHoldingGroup_doesNotPassAWaitingOneOfAnother() throws Exception {
        Lease red = granted(mine.lock("red"));
        CompletableFuture<Lease> green = yours.lock("green").acquireAsync();
        awaitQueue(2, 1);
        assertThat(mine.lock("red").tryAcquire()).isEmpty();
        CompletableFuture<Lease> lateRed = mine.lock("red").acquireAsync();
        awaitQueue(3, 2);

        red.close();
        Lease greenLease = green.get(120, TimeUnit.SECONDS);
        assertThat(lateRed).isNotDone();
        greenLease.close();
        lateRed.get(120, TimeUnit.SECONDS).close();
    }

    @Test
    void release_wakesOnlyWaitersForTheNearestOtherGroup() throws Exception {
        Lease far = granted(mine.lock("red"));
        Lease near = granted(mine.lock("red"));
        CompletableFuture<Lease> wanted = yours.lock("green").acquireAsync();
        awaitQueue(3, 1);

        long events = server.eventsSent();
        far.close();
        assertThat(server.eventsSent() - events).isZero();
        near.close();
        Lease granted = wanted.get(120, TimeUnit.SECONDS);
        assertThat(server.eventsSent() - events).isEqualTo(1);
        granted.close();
    }

    @Test
    void group_isReentrantThroughEveryLockObject_andAnotherOneIsRefused() throws Exception {
        Lease outer = mine.lock("red").acquire();
        Lease inner = mine.lock("red").acquire();
        assertThat(server.children(path)).hasSize(1);
        assertThatThrownBy(mine.lock("green")::acquire).isInstanceOf(LockRefusedException.class);
        Lease beside = yours.lock("red").acquire();
        assertThat(server.children(path)).hasSize(2);
        List.of(beside, inner, outer).forEach(Lease::close);
    }

    static List<String> legalGroups() {
        return GroupNamesTest.legalGroups();
    }

    @ParameterizedTest
    @MethodSource("legalGroups")
    void everyLegalGroup_excludesTheOthers(String group) throws Exception {
        Lease held = granted(mine.lock(group));
        Lease beside = granted(yours.lock(group));
        for (String other : legalGroups()) {
            if (!other.equals(group)) {
                assertThat(yours.lock(other).tryAcquire()).as(other).isEmpty();
            }
        }
        beside.close();
        held.close();
    }

    static List<String> otherNames() {
        return List.of("a-b", "a b", "a/b", "a\nb", "-", "\u00e4", "\u0661", "x".repeat(81));
    }

    @ParameterizedTest
    @MethodSource("otherNames")
    void otherName_isRefusedBeforeAnythingIsSent(String group) {
        assertRefusedBeforeAnythingIsSent(() -> mine.lock(group), "no group: \"" + group + "\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock-0000000001", "range.0.10-0000000001", "group.a b-0000000001"})
    void nodeOfAnotherRecipe_failsTheAcquire_byName(String name) throws Exception {
        assertForeign(name, mine.lock("red"));
    }

    @Test
    void participants_areTheSame_forEveryGroup() throws Exception {
        assertParticipants(mine.lock("red"), yours.lock("green"), mine.lock("red"), "red", "green");
    }

    @Test
    void randomGroups_neverMeetAndAreServedInTurn() throws Exception {
        clients.close();
        int groups = 3;
        AtomicLongArray inside = new AtomicLongArray(groups);
        AtomicLongArray last = new AtomicLongArray(groups);
        Load.run(server, path, (client, random) -> {
            int group = random.nextInt(groups);
            InterProcessLock lock = new GroupLock(client, path).lock("group" + group);
            try (Lease lease = Load.acquire(lock, random).orElse(null)) {
                if (lease == null) {
                    return;
                }
                long token = lease.fencingToken(); // rises with the place in the queue
                inside.incrementAndGet(group);
                for (int other = 0; other < groups; other++) {
                    if (other != group) {
                        assertThat(inside.get(other))
                                .as("inside of group %s", other)
                                .isZero();
                        assertThat(last.get(other))
                                .as("last of group %s", other)
                                .isLessThan(token);
                    }
                }
                last.accumulateAndGet(group, token, Math::max);
                lease.verify();
                inside.decrementAndGet(group);
            }
        });
    }
}

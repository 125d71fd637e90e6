// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static dev.zkrecipes.cli.operate.Listed.curators;
import static dev.zkrecipes.cli.operate.Listed.standings;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CuratorSemaphoreTest {
    private static Queue queue(String name, Node... nodes) {
        return new Queue("/x/" + name, List.of(nodes), Optional.empty());
    }

    private static LockView view(Queue leases, Queue locks) {
        assertThat(CuratorSemaphore.isOne(leases, locks)).isTrue();
        return new CuratorSemaphore("/x", leases, locks).view();
    }

    @Test
    void leases_areHeld() {
        LockView lock =
                view(queue("leases", curators("lease-0000000001", 1), curators("lease-0000000002", 2)), queue("locks"));
        assertThat(lock.recipe()).isEqualTo(SeenRecipe.CURATOR_SEMAPHORE);
        assertThat(standings(lock)).isEqualTo("hh");
        assertThat(lock.places().get(0).node()).startsWith("leases/_c_");
    }

    @Test
    void newestLeaseOfTheAcquiringSession_mayWait_andIsListedOnce() {
        LockView lock = view(
                queue("leases", curators("lease-0000000001", 1), curators("lease-0000000002", 2)),
                queue("locks", curators("lock-0000000005", 2), curators("lock-0000000006", 3)));
        assertThat(standings(lock)).isEqualTo("h?w");
        assertThat(lock.places().get(2).node()).startsWith("locks/_c_").endsWith("lock-0000000006");
        assertThat(lock.notes()).anyMatch(note -> note.contains("newest lease"));
    }

    @Test
    void sessionAboutToTakeALease_waits() {
        LockView lock =
                view(queue("leases", curators("lease-0000000001", 1)), queue("locks", curators("lock-0000000005", 2)));
        assertThat(standings(lock)).isEqualTo("hw");
    }

    @Test
    void foldersWithOtherContents_areNotASemaphore() {
        Queue locks = queue("locks", curators("lock-0000000005", 2));
        assertThat(CuratorSemaphore.isOne(queue("leases", curators("lock-0000000001", 1)), locks))
                .isFalse();
        assertThat(CuratorSemaphore.isOne(queue("leases"), queue("locks"))).isFalse();
    }
}

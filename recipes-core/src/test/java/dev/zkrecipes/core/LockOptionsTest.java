// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("H63")
class LockOptionsTest {
    private static final LockOptions DEFAULTS = LockOptions.defaults();
    private static final String HASH = "ZO9lWqOkMzdKcMcaYKCDnlXmP+Q=";

    private static ACL entry(int perms, String scheme, String id) {
        return new ACL(perms, new Id(scheme, id));
    }

    private static Arguments bad(String named, ACL... entries) {
        return Arguments.of(named, Arrays.asList(entries));
    }

    static Stream<Arguments> badLists() {
        int all = Perms.ALL;
        return Stream.of(
                bad("the ACL is empty"),
                bad("an entry that is null", entry(all, "world", "anyone"), null),
                bad("names nobody", new ACL(all, null)),
                bad("names nobody", entry(all, null, "anyone")),
                bad("names nobody", entry(all, "world", null)),
                bad("without a scheme", entry(all, "", "")),
                bad("digest:alice grants 0", entry(0, "digest", "alice:" + HASH)),
                bad("grants 32", entry(32, "world", "anyone")),
                bad("the scheme world knows only anyone", entry(all, "world", "everybody")),
                bad("digest:alice without the hash", entry(all, "digest", "alice:open sesame")),
                bad("digest:alice without the hash", entry(all, "digest", "alice")),
                bad("digest: without the hash", entry(all, "digest", ":" + HASH)),
                bad("[world:anyone rwca] grants nobody all", entry(all & ~Perms.DELETE, "world", "anyone")));
    }

    @ParameterizedTest
    @MethodSource("badLists")
    void badLists_areRejectedAtOnceAndNamed(String named, List<ACL> acl) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULTS.withAcl(acl))
                .withMessageContaining(named);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZooKeeperClient.builder().acl(acl))
                .withMessageContaining(named);
    }

    @Test
    void refusals_doNotTellPasswords() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULTS.withAcl(List.of(entry(Perms.ALL, "digest", "alice:open sesame"))))
                .withMessageNotContaining("sesame");
    }

    @Test
    void acl_isCopiedInAndOut_andMayBeAskedForNull() {
        List<ACL> given = new ArrayList<>(List.of(entry(Perms.ALL, "ip", "127.0.0.1")));
        LockOptions options = DEFAULTS.withAcl(given);
        given.get(0).setPerms(0);
        options.acl().orElseThrow().get(0).setPerms(0);
        List<ACL> acl = options.acl().orElseThrow();
        assertThat(acl).containsExactly(entry(Perms.ALL, "ip", "127.0.0.1"));
        assertThat(acl.contains(null)).isFalse();
        assertThat(DEFAULTS.withAcl(List.copyOf(ZooDefs.Ids.CREATOR_ALL_ACL)).acl())
                .hasValue(ZooDefs.Ids.CREATOR_ALL_ACL);
    }

    @Test
    void rightsOfSeveral_countTogether() {
        LockOptions options = DEFAULTS.withAcl(
                List.of(entry(Perms.READ, "world", "anyone"), entry(Perms.CREATE | Perms.DELETE, "auth", "")));
        assertThat(options.acl().orElseThrow()).hasSize(2);
    }

    @Test
    void changingOneOption_keepsTheOther() {
        LockOptions both = DEFAULTS.withAcl(ZooDefs.Ids.CREATOR_ALL_ACL).withQueueLossPolicy(QueueLossPolicy.FAIL);
        assertThat(both)
                .isEqualTo(DEFAULTS.withQueueLossPolicy(QueueLossPolicy.FAIL).withAcl(ZooDefs.Ids.CREATOR_ALL_ACL));
        assertThat(both.queueLossPolicy()).isEqualTo(QueueLossPolicy.FAIL);
        assertThat(DEFAULTS.acl()).isEmpty();
    }

    @Test
    void changingAnyOption_keepsTheOthers() {
        LockOptions others = DEFAULTS.withQueueLossPolicy(QueueLossPolicy.FAIL).withReleaseInBackground();
        LockOptions all = DEFAULTS.withStandby()
                .withDeadlockPolicy(DeadlockPolicy.FAIL)
                .withQueueLossPolicy(QueueLossPolicy.FAIL)
                .withReleaseInBackground()
                .withAcl(ZooDefs.Ids.OPEN_ACL_UNSAFE)
                .withHoldAtMost(Duration.ofDays(1))
                .withoutHoldAtMost()
                .withOwnerLabel("label")
                .withName("name");
        assertThat(all.standsBy()).isTrue();
        assertThat(all.deadlockPolicy()).isEqualTo(DeadlockPolicy.FAIL);
        assertThat(all.withStandby().deadlockPolicy()).isEqualTo(DeadlockPolicy.FAIL);
        assertThat(all.withDeadlockPolicy(DeadlockPolicy.WAIT)).isNotEqualTo(all);
        assertThat(all.toString()).contains(", stands by", ", fails in a deadlock");
        assertThat(others.withStandby())
                .isNotEqualTo(others)
                .isEqualTo(DEFAULTS.withStandby()
                        .withQueueLossPolicy(QueueLossPolicy.FAIL)
                        .withReleaseInBackground());
    }

    @Test
    void text_namesTheRightsAndNoHash() {
        assertThat(DEFAULTS.withAcl(List.of(entry(Perms.ALL, "digest", "alice:" + HASH))))
                .hasToString("LockOptions[REQUEUE, [digest:alice rwcda]]");
    }

    @Test
    void badOwnerLabel_isRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> DEFAULTS.withOwnerLabel("a\nb"));
    }
}

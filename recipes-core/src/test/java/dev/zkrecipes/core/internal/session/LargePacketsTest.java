// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.session.LargePackets.NodePart;
import dev.zkrecipes.core.internal.session.LargePackets.Part;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import java.util.Collections;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("H75")
class LargePacketsTest {
    private static final int LIMIT = 1_000_000;
    private static final NodePart DATA = new NodePart(Part.DATA, "/a");
    private static final NodePart CHILDREN = new NodePart(Part.CHILDREN, "/a");

    private final LargePackets packets = new LargePackets();

    private void loseTwice(NodePart what) {
        packets.lost(what, packets.newConnection());
        packets.lost(what, packets.newConnection());
    }

    private boolean convictsData(int length) {
        Stat stat = new Stat();
        stat.setDataLength(length);
        return packets.convicts(DATA, stat, LIMIT);
    }

    private boolean convictsChildren(int number) {
        Stat stat = new Stat();
        stat.setNumChildren(number);
        return packets.convicts(CHILDREN, stat, LIMIT);
    }

    @Test
    void requestUnderWayOnTwoBrokenConnections_isSuspected() {
        packets.lost(DATA, packets.newConnection());
        assertThat(packets.isSuspect(DATA)).isFalse();
        packets.lost(DATA, packets.newConnection());
        assertThat(packets.isSuspect(DATA)).isTrue();
        assertThat(packets.isSuspect(CHILDREN)).isFalse();
    }

    @Test
    void lossesOnOneConnection_countOnce() {
        long connection = packets.newConnection();
        packets.lost(DATA, connection);
        packets.lost(DATA, connection);
        assertThat(packets.isSuspect(DATA)).isFalse();
    }

    @Test
    void answerBetweenTwoLosses_clears() {
        packets.lost(DATA, packets.newConnection());
        packets.answered(DATA);
        packets.lost(DATA, packets.newConnection());
        assertThat(packets.isSuspect(DATA)).isFalse();
    }

    @Test
    void fittingData_areClearedOfSuspicion() {
        loseTwice(DATA);
        assertThat(convictsData(LIMIT - 1000)).isFalse();
        assertThat(packets.isSuspect(DATA)).isFalse();
    }

    @Test
    void tooLargeData_areConvictedUntilTheyFit() {
        loseTwice(DATA);
        assertThat(convictsData(LIMIT)).isTrue();
        assertThat(convictsData(LIMIT)).isTrue();
        assertThat(packets.isSuspect(DATA)).isTrue();
        assertThat(convictsData(LIMIT - 1000)).isFalse();
        assertThat(packets.isSuspect(DATA)).isFalse();
    }

    @Test
    void fewChildren_areCleared() {
        loseTwice(CHILDREN);
        assertThat(convictsChildren(3000)).isFalse();
    }

    @Test
    void childrenOfUnknownNames_areConvictedUntilAQuarterIsGone() {
        loseTwice(CHILDREN);
        assertThat(convictsChildren(10_000)).isTrue();
        assertThat(convictsChildren(7_600)).isTrue();
        assertThat(convictsChildren(7_400)).isFalse();
        assertThat(packets.isSuspect(CHILDREN)).isFalse();
    }

    @Test
    void childrenListedBefore_areJudgedByTheirNames() {
        packets.listed("/a", Collections.nCopies(2000, "x".repeat(46))); // 50 bytes each, and a quarter
        loseTwice(CHILDREN);
        assertThat(convictsChildren(15_000)).isFalse();
        loseTwice(CHILDREN);
        assertThat(convictsChildren(17_000)).isTrue();
    }

    @Test
    void requestAboveTheClientsLimit_isForbidden() {
        assertThat(packets.forbids(LIMIT, LIMIT)).isFalse();
        assertThat(packets.forbids(LIMIT + 1, LIMIT)).isTrue();
    }

    @Test
    void requestAboveTheDefaultLimit_isForbiddenAfterTwoLosses_unlessOneIsAnswered() {
        int raised = 4 * PacketLimit.DEFAULT;
        int size = 2 * PacketLimit.DEFAULT;
        packets.sent(size, true, packets.newConnection());
        packets.sent(size, false, packets.newConnection());
        packets.sent(size, true, packets.newConnection());
        assertThat(packets.forbids(size, raised)).isFalse();
        packets.sent(size, true, packets.newConnection());
        assertThat(packets.forbids(size, raised)).isTrue();
        assertThat(packets.forbids(PacketLimit.DEFAULT, raised)).isFalse();
    }
}

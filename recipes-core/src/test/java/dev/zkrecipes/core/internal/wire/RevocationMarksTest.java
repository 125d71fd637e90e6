// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RevocationMarksTest {
    private static final String OURS = "0123456789abcdef0123456789abcdef-lock-0000000001";

    private static Content content(String data) {
        Stat stat = new Stat();
        stat.setMzxid(7);
        return new Content(data.getBytes(UTF_8), stat);
    }

    private static RevocationRequest request(String id, Duration grace) {
        return new RevocationRequest(id, "ben at home", Optional.ofNullable(grace));
    }

    private static String mark(RevocationRequest request, String node, String data) {
        return new String(RevocationMarks.with(request, node, content(data)), UTF_8);
    }

    @Test
    void wire_isALineForEachRequest_behindWhatThereWas() {
        String once = mark(request("a1", null), OURS, "zkrecipes 1\nowner=anna\nfuture=1\n");
        String twice = mark(request("b2", Duration.ofNanos(1_000_001)), OURS, once);
        assertThat(once).isEqualTo("zkrecipes 1\nowner=anna\nfuture=1\nrevoke=a1 - ben at home\n");
        assertThat(twice).isEqualTo(once + "revoke=b2 2 ben at home\n");
        assertThat(RevocationMarks.in(content(twice)))
                .containsExactly(request("a1", null), request("b2", Duration.ofMillis(2)));
        assertThat(OwnerLabel.decode(twice.getBytes(UTF_8))).isEqualTo("anna");
    }

    @Test
    void onlyTheLastRequestsStay() {
        String data = "zkrecipes 1\nowner=anna\n";
        for (int i = 0; i < RevocationMarks.MOST + 3; i++) {
            data = mark(request("id" + i, null), OURS, data);
        }
        assertThat(RevocationMarks.in(content(data)))
                .extracting(RevocationRequest::id)
                .containsExactly("id3", "id4", "id5", "id6", "id7", "id8", "id9", "id10");
        assertThat(OwnerLabel.decode(data.getBytes(UTF_8))).isEqualTo("anna");
    }

    @Test
    void textLikeARequest_isOne() {
        List<RevocationRequest> found = RevocationMarks.in(
                content(
                        "zkrecipes 1\nrevoke=\nrevoke=now\nrevoke=x soon\nrevoke=y 99999999999999999999 \u001b[2J\nrevoke=z -1 me"));
        assertThat(found).extracting(RevocationRequest::id).containsExactly("", "now", "x", "y", "z");
        assertThat(found)
                .extracting(RevocationRequest::requester)
                .containsExactly("unknown", "unknown", "unknown", "\\u001b[2J", "me");
        assertThat(found).allMatch(request -> request.grace().isEmpty());
    }

    @Test
    void moreRequestsThanThereShouldBe_areNotAllTold() {
        String flood = "zkrecipes 1\n" + "revoke=x\n".repeat(10_000) + "revoke=last\n";
        assertThat(RevocationMarks.in(content(flood)))
                .hasSize(RevocationMarks.MOST)
                .last()
                .extracting(RevocationRequest::id)
                .isEqualTo("last");
        assertThat(mark(request("a1", null), OURS, flood)).hasSizeLessThan(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "revoke=a - b\n", "zkrecipes 2\nrevoke=a - b\n", "__REVOKE__ ", "192.0.2.1"})
    void otherData_isNoRequest(String data) {
        assertThat(RevocationMarks.in(content(data))).isEmpty();
    }

    @Test
    void requestOfCurator_isAnotherOneWithEachWrite_andIsKept() {
        RevocationRequest curators = new RevocationRequest("__REVOKE__7", "unknown", Optional.empty());
        assertThat(RevocationMarks.in(content("__REVOKE__"))).containsExactly(curators);
        String both = mark(request("a1", null), OURS, "__REVOKE__");
        assertThat(RevocationMarks.in(content(both))).containsExactly(curators, request("a1", null));
    }

    @Test
    void emptyNodeOfOurs_isMarkedAsAny() {
        assertThat(mark(request("a1", null), OURS, "")).isEqualTo("zkrecipes 1\nrevoke=a1 - ben at home\n");
    }

    @Test
    void longestGrace_isWritten() {
        String data = mark(request("a1", Duration.ofSeconds(Long.MAX_VALUE)), OURS, "");
        assertThat(RevocationMarks.in(content(data)).get(0).grace()).isPresent();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001",
                "_c_0123456789abcdef0123456789abcdef-lock-0000000001",
                "01234567-89ab-cdef-0123-456789abcdef-lock-0000000001",
                "lock-0000000001",
                "0123456789abcdef0123456789abcdef__lock__0000000001"
            })
    void nodeOfOthers_getsWhatCuratorWrites(String name) {
        assertThat(mark(request("a1", Duration.ZERO), name, "192.0.2.1")).isEqualTo("__REVOKE__");
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.operate.Kind.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KindTest {
    private static final String OURS = Listed.OUR_ID + "-";
    private static final String CURATORS = Listed.CURATOR_ID + "-";

    @ParameterizedTest
    @CsvSource({
        "lock-0000000042, MUTEX, lock-, '', 42",
        "__READ__0000000001, READ, __READ__, '', 1",
        "__WRIT__0000000001, WRITE, __WRIT__, '', 1",
        "lease.3-0000000007, PERMITS, lease., 3, 7",
        "lease-0000000007, CURATOR_LEASE, lease-, '', 7",
        "range.10~20-0000000007, OTHER, range., 10~20, 7",
        "lease.0-0000000007, OTHER, lease., 0, 7",
        "lock-2147483647, MUTEX, lock-, '', 2147483647",
        "lock--2147483648, MUTEX, lock-, '', -2147483648",
        "ticket#0000000003, OTHER, ticket#, '', 3"
    })
    void lockNodeName_isParsed_whateverTheLibrary(String rest, Kind kind, String text, String payload, long number) {
        for (String id : new String[] {OURS, CURATORS, ""}) {
            Named named = Kind.read(id + rest).orElseThrow();
            assertThat(named.kind()).isEqualTo(kind);
            assertThat(named.node().name()).isEqualTo(id + rest);
            assertThat(named.node().kind()).isEqualTo(text);
            assertThat(named.node().payload()).isEqualTo(payload);
            assertThat(named.node().number()).isEqualTo(number);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"locks", "leases", "0000000001", "lock-1", "a-b", "lock-000000000x", "12345678901"})
    void anyOtherChild_isNoLockNode(String name) {
        assertThat(Kind.read(name)).isEmpty();
    }
}

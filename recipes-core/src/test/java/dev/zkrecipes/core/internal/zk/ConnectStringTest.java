// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectStringTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "host | host:2181",
                "host:2182 | host:2182",
                "host:65535 | host:65535",
                "a,b:2182,c | a:2181,b:2182,c:2181",
                "' a , b ' | a:2181,b:2181",
                "192.0.2.1:2181 | 192.0.2.1:2181",
                "[::1]:2181 | [::1]:2181",
                "[::1] | [::1]:2181",
                "[::1],[2001:db8::2]:99/app | [::1]:2181,[2001:db8::2]:99/app",
                "a:1/app | a:1/app",
                "a:1/app/sub | a:1/app/sub",
                "a:1/ | a:1"
            })
    void wellFormedStrings_getTheirPorts(String given, String parsed) {
        assertThat(ConnectString.parse(given)).isEqualTo(parsed);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''",
                "' '",
                "','",
                "a,",
                ",a",
                "a,,b",
                ":2181",
                "a:",
                "a:0",
                "a:-1",
                "a:65536",
                "a:99999999999999999999",
                "a:b",
                "a:1:2",
                "::1:2181",
                "[::1",
                "::1]:2181",
                "[a]:2181",
                "a b:2181",
                "user@a:2181",
                "zk://a:2181",
                "a;b:2181",
                "/app"
            })
    void malformedStrings_areRejectedAndShown(String given) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectString.parse(given))
                .withMessageContaining("\"" + given + "\"")
                .withMessageContaining("expected host:port[,host:port]...[/chroot]");
    }

    /** ZooKeeper's client would take all behind the first slash for the chroot, and use the first server only. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"a:2181/app,b:2181/app", "a:2181/app,b:2181", "a/,b/", "a/app,b/app", "a,b/app,c"})
    void chrootBehindEachServer_isRejected(String given) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectString.parse(given))
                .withMessageContaining("a chroot that is not the end: it is the same for all servers, give it once")
                .withMessageContaining("expected host:port[,host:port]...[/chroot]");
    }

    @ParameterizedTest
    @CsvSource({"a:1//", "a:1/app/", "a:1/app//sub", "a:1/./app", "a:1/..", "'a:1/\n'"})
    void badChroots_areRejected(String given) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectString.parse(given))
                .satisfies(
                        e -> assertThat(e.getMessage()).contains("bad chroot").doesNotContain("\n", "lock path"));
    }

    /** As ZooKeeper's client does, so that a string which is accepted here is accepted by every tool. */
    @Test
    void slashAtTheEndOfTheChroot_isRejectedAsThat() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectString.parse("a:1/app/"))
                .withMessage("malformed connect string \"a:1/app/\": bad chroot \"/app/\": Path must not end with /"
                        + " character; expected host:port[,host:port]...[/chroot]");
    }

    @Test
    void controlCharacters_areShownSafely() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConnectString.parse("a\nb\u202e:\u001b[2J"))
                .satisfies(e -> assertThat(e.getMessage())
                        .contains("\"a\\u000ab\\u202e:\\u001b[2J\"")
                        .doesNotContain("\n", "\u202e", "\u001b"));
    }

    @Test
    void null_isRejectedByName() {
        assertThatNullPointerException()
                .isThrownBy(() -> ConnectString.parse(null))
                .withMessage("connectString");
    }
}

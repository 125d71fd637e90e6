// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every setting is checked when it is set. */
class ZooKeeperClientBuilderTest {
    private final ZooKeeperClientBuilder builder = ZooKeeperClient.builder();

    private static Arguments bad(String named, Consumer<ZooKeeperClientBuilder> setting) {
        return Arguments.of(named, setting);
    }

    static Stream<Arguments> badSettings() {
        Duration tooLong = Duration.ofMillis(1L << 31);
        Duration fine = Duration.ofSeconds(1);
        return Stream.of(
                bad("sessionTimeout is PT0S", builder -> builder.sessionTimeout(Duration.ZERO)),
                bad("sessionTimeout is PT-1S", builder -> builder.sessionTimeout(Duration.ofSeconds(-1))),
                bad("sessionTimeout is " + tooLong, builder -> builder.sessionTimeout(tooLong)),
                bad("requestTimeout is PT0S", builder -> builder.requestTimeout(Duration.ZERO)),
                bad("requestTimeout is PT-1S", builder -> builder.requestTimeout(Duration.ofSeconds(-1))),
                bad("first retry delay is PT0S", builder -> builder.retryDelay(Duration.ZERO, fine)),
                bad("longest retry delay is " + tooLong, builder -> builder.retryDelay(fine, tooLong)),
                bad("PT1S is longer than the longest, PT0.5S", builder -> builder.retryDelay(fine, fine.dividedBy(2))),
                bad("ACL is empty", builder -> builder.acl(List.of())),
                bad("auth scheme is blank", builder -> builder.auth(" ", new byte[0])),
                bad("owner label \"\"", builder -> builder.ownerLabel("")),
                bad("owner label \"a\\u000ab\"", builder -> builder.ownerLabel("a\nb")),
                bad("connect string \"a:0\"", builder -> builder.connectString("a:0")),
                bad("disableAutoWatchReset", builder -> builder.clientConfig(withoutWatchReset())));
    }

    private static ZKClientConfig withoutWatchReset() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        return config;
    }

    /** ZooKeeper's client takes its settings from there if the builder gets none. */
    @ParameterizedTest
    @CsvSource({
        ZKClientConfig.DISABLE_AUTO_WATCH_RESET + ", waiting locks would never be woken",
        ZKClientConfig.SECURE_CLIENT + ", does not speak TLS"
    })
    @Tag("H283")
    void badSettingsOfSystemProperties_areRejected(String name, String why) {
        builder.connectString("localhost:1").build().close(); // a builder keeps nothing of what it has read
        String before = System.setProperty(name, "true");
        try {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder.build().close())
                    .withMessageContaining(name)
                    .withMessageContaining(why);
        } finally {
            System.getProperties().remove(name);
        }
        assertThat(before).isNull();
        builder.build().close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 10, 999_999})
    @Tag("H96")
    void tooShortTimes_areRejected(long nanos) {
        Duration tooShort = Duration.ofNanos(nanos);
        Map<String, Consumer<ZooKeeperClientBuilder>> settings = Map.of(
                "sessionTimeout is " + tooShort + ", must be from 10 ms to 2^31-1 ms",
                builder -> builder.sessionTimeout(tooShort),
                "requestTimeout is " + tooShort + ", must be from 1 ms to 2^31-1 ms",
                builder -> builder.requestTimeout(tooShort),
                "first retry delay is " + tooShort + ", must be from 1 ms to 2^31-1 ms",
                builder -> builder.retryDelay(tooShort, Duration.ofSeconds(1)));
        settings.forEach((message, setting) -> assertThatIllegalArgumentException()
                .isThrownBy(() -> setting.accept(builder))
                .withMessage(message));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.sessionTimeout(Duration.ofMillis(9)));
        builder.sessionTimeout(Duration.ofMillis(10)).requestTimeout(Duration.ofMillis(1));
    }

    @ParameterizedTest
    @MethodSource("badSettings")
    void badSettings_areRejectedAtOnceAndNamed(String named, Consumer<ZooKeeperClientBuilder> setting) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> setting.accept(builder))
                .withMessageContaining(named);
    }

    @Test
    void nullTimes_areRejectedByName() {
        assertThatNullPointerException()
                .isThrownBy(() -> builder.sessionTimeout(null))
                .withMessage("sessionTimeout is null: give a duration, or leave the setting out for its default");
        assertThatNullPointerException()
                .isThrownBy(() -> builder.retryDelay(Duration.ofSeconds(1), null))
                .withMessageContaining("longest retry delay is null");
    }

    @Test
    void nothingToConnectTo_isRejected() {
        assertThatIllegalStateException()
                .isThrownBy(builder::build)
                .withMessageContaining("connectString, handle, handles");
    }

    @Test
    void twoThingsToConnectTo_areRejected() {
        builder.connectString("a:1");
        assertThatIllegalStateException().isThrownBy(() -> builder.connectString("a:1"));
        assertThatIllegalStateException().isThrownBy(() -> builder.handles(() -> null));
    }

    @Test
    void credentialsForAForeignHandle_areRejected() {
        builder.handles(() -> null);
        builder.auth("digest", "user:password".getBytes(StandardCharsets.UTF_8));
        assertThatIllegalStateException()
                .isThrownBy(builder::build)
                .withMessageContaining("configure the handle instead");
    }

    @Test
    void sessionTimeoutForAForeignHandle_isRejected() {
        builder.handles(() -> null);
        builder.sessionTimeout(Duration.ofSeconds(30));
        assertThatIllegalStateException()
                .isThrownBy(builder::build)
                .withMessage(
                        "auth, clientConfig and sessionTimeout apply only to sessions that the client opens: configure the"
                                + " handle instead");
    }

    @Test
    void digestWithoutAColon_isRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.auth("digest", "user".getBytes(StandardCharsets.UTF_8)))
                .withMessage("the credentials of the scheme digest have no colon: give the bytes of user:password");
        builder.auth("other", "user".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void connectStringWithAScheme_isRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.connectString("zk://zk1:2181/app"))
                .withMessage("malformed connect string \"zk://zk1:2181/app\": leave out \"zk://\"; expected"
                        + " host:port[,host:port]...[/chroot]");
    }

    @Test
    void acl_isCopied_andMayBeAskedForNull() {
        assertThat(builder.acl(List.copyOf(ZooDefs.Ids.CREATOR_ALL_ACL))).isSameAs(builder);
    }

    // ---- Handles that locks cannot rely on.

    private static ZooKeeper handle(ZKClientConfig config, ZooKeeper.States state) {
        ZooKeeper handle = mock(ZooKeeper.class);
        when(handle.getClientConfig()).thenReturn(config);
        when(handle.getState()).thenReturn(state);
        when(handle.getSessionId()).thenReturn(0x1234L);
        return handle;
    }

    @Test
    void handleWithoutWatchReset_isRejected() {
        ZooKeeper handle = handle(withoutWatchReset(), ZooKeeper.States.CONNECTED);
        assertThatThrownBy(() -> ZooKeeperClient.wrap(handle))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("zookeeper.disableAutoWatchReset");
    }

    @Test
    void readOnlyHandle_isRejected() {
        ZooKeeper handle = handle(new ZKClientConfig(), ZooKeeper.States.CONNECTEDREADONLY);
        assertThatThrownBy(() -> ZooKeeperClient.wrap(handle))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0x1234")
                .hasMessageContaining("read-only");
    }
}

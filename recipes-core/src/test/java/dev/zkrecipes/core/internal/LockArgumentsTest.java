// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a lock is made of is checked when it is made, before anything is sent. */
class LockArgumentsTest extends ClientScene {
    private LockInternals on(String path) {
        return internals(path, new TestDriver("lock-"));
    }

    private LockInternals named(String nodeName) {
        return internals("/a", new TestDriver(nodeName));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/a", "/a/b c/d", "/a/...", "/a/.b", "/\u00e4\u00f6/\u4e2d"})
    void absolutePaths_areTakenAsTheyAre(String path) {
        assertThat(on(path).threadOwned().path()).isEqualTo(path);
        assertThat(on(path).instanceOwned().path()).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "a/b",
                "./a",
                "/a/",
                "//",
                "//a",
                "/a//b",
                "/.",
                "/a/./b",
                "/..",
                "/a/../b",
                "/a\u0000b",
                "/a\nb",
                "/a\u007fb",
                "/a\u0085b",
                "/a\u2028b",
                "/a\u2029b",
                "/a\u202eb",
                "/a\u200bb",
                "/a\ud800"
            })
    void otherPaths_areRejectedAndShownSafely(String path) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> on(path))
                .withMessageStartingWith("bad lock path \"" + Printable.of(path) + "\": ")
                .withMessageNotContaining("Invalid path string")
                .satisfies(e -> assertThat(e.getMessage().codePoints()).allMatch(Printable::isPlain));
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock-", "__READ__", "lease.2-", "k.a_B~9.z-"})
    void nodeNames_ofAKindWithASeparator(String nodeName) {
        assertThat(named(nodeName).threadOwned().path()).isEqualTo("/a");
    }

    @ParameterizedTest
    @CsvSource({"lock, lock", "'', ''", "-, -", "a/b-, a/b-", "a b-, a b-", "'a\n-', a\\u000a-"})
    void otherNodeNames_areRejectedAndShownSafely(String nodeName, String shown) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> named(nodeName))
                .withMessageContaining("\"" + shown + "\"")
                .withMessageContaining(TestDriver.class.getName());
    }

    @Test
    void driverThatDoesNotKnowItsOwnNodes_isRejected() {
        LockDriver forgetful = mock(LockDriver.class);
        when(forgetful.nodeName()).thenReturn("lock-");
        when(forgetful.parse(anyString())).thenReturn(Optional.empty());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LockInternals(client, "/a", forgetful, LockOptions.defaults()))
                .withMessageContaining("does not recognise its own node name")
                .withMessageContaining("lock-2147483646");
    }

    /** A driver may fail later, when the lock is in use. */
    @Test
    @Tag("H45")
    void nodeName_isReadOnlyWhenTheLockIsCreated() {
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        LockNodeDriver driver = new LockNodeDriver() {
            @Override
            public String nodeName() {
                if (failure.get() != null) {
                    throw failure.get();
                }
                return LockNodeDriver.super.nodeName();
            }

            @Override
            public Optional<LockNode> parse(String childName) {
                return LockNode.parse(childName, "lock-");
            }

            @Override
            public Decision decide(List<LockNode> predecessors, LockNode self) {
                return Decision.grantedIfFirst(predecessors);
            }
        };
        InterProcessLock lock = internals("/a", driver).threadOwned();
        failure.set(new IllegalStateException("broken"));
        lock.tryAcquire().orElseThrow().close();
        assertThat(asked(lock)).isCompletedWithValueMatching(Lease::isValid);
        assertThatThrownBy(() -> internals("/a", driver)).isSameAs(failure.get());
    }

    @Test
    void badArgumentsOfARevocation_areRejected() throws InterruptedException {
        Revoker revoker = new Revoker(client);
        assertThatIllegalArgumentException().isThrownBy(() -> revoker.withGrace(Duration.ofNanos(-1)));
        Lease lease = internals("/a", new TestDriver("lock-")).threadOwned().acquire();
        assertThatNullPointerException().isThrownBy(() -> lease.onRevocationRequested(null));
    }
}

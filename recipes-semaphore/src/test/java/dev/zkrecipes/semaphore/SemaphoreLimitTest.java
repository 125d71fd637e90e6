// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockRefusedException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SemaphoreLimitTest {
    private static final String PATH = "/semaphores/test";

    private static SemaphoreLimit decode(String data) {
        return SemaphoreLimit.decode(PATH, data.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "4, 9", "9, 4", "2147483647, 2147483647"})
    void writtenLimit_isReadBack(int configured, int current) {
        SemaphoreLimit limit = new SemaphoreLimit(configured, current);
        assertThat(limit.encode())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("zkrecipes 1\nconfigured=" + configured + "\ncurrent=" + current + "\n");
        assertThat(SemaphoreLimit.decode(PATH, limit.encode())).isEqualTo(limit);
    }

    @Test
    void linesOfALaterVersion_areIgnored() {
        assertThat(decode("zkrecipes 1\nnote=x=current=7\nconfigured=4\n\ncurrent=9\nfair=no\n"))
                .isEqualTo(new SemaphoreLimit(4, 9));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\n",
                "4",
                "configured=4\ncurrent=4\n",
                "zkrecipes 2\nconfigured=4\ncurrent=4\n",
                "zkrecipes 1",
                "zkrecipes 1\n",
                "zkrecipes 1\nconfigured=4\n",
                "zkrecipes 1\ncurrent=4\n",
                "zkrecipes 1\nconfigured=0\ncurrent=4\n",
                "zkrecipes 1\nconfigured=4\ncurrent=0\n",
                "zkrecipes 1\nconfigured=4\ncurrent=-4\n",
                "zkrecipes 1\nconfigured=4\ncurrent=+4\n",
                "zkrecipes 1\nconfigured=4\ncurrent=04\n",
                "zkrecipes 1\nconfigured=4\ncurrent= 4\n",
                "zkrecipes 1\nconfigured=4\ncurrent=4 \n",
                "zkrecipes 1\nconfigured=4\ncurrent=2147483648\n",
                "zkrecipes 1\nconfigured=4\ncurrent=99999999999999999999\n",
                "zkrecipes 1\nconfigured=4\ncurrent=\u0664\n",
                "zkrecipes 1\nconfigured=\ncurrent=\n",
                "zkrecipes 1\r\nconfigured=4\r\ncurrent=4\r\n",
                " zkrecipes 1\nconfigured=4\ncurrent=4\n"
            })
    void otherData_isRejected_andTheErrorNamesItsSize(String data) {
        assertThatThrownBy(() -> decode(data))
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining(PATH)
                .hasMessageContaining(data.getBytes(StandardCharsets.UTF_8).length
                        + " bytes of other data where a semaphore keeps its limit");
    }

    @Test
    void missingDataAndBinaryData_areRejected() {
        assertThatThrownBy(() -> decode(""))
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining("has no data");
        assertThatThrownBy(() -> SemaphoreLimit.decode(PATH, new byte[] {(byte) 0xff, 0, (byte) 0xc3}))
                .isInstanceOf(LockRefusedException.class);
    }

    @Test
    void limitOfZero_isRefused() {
        assertThatThrownBy(() -> Permits.checkLimit(PATH, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "a limit of 0 for the semaphore " + PATH + ": must be at least 1; nobody could ever hold it");
    }

    @Test
    @Tag("H84")
    void earlierHigherLimit_isRemembered_untilTheLimitReachesItAgain() {
        SemaphoreLimit resized = SemaphoreLimit.of(4).resized(3).resized(1);
        assertThat(resized.encode())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("zkrecipes 1\nconfigured=4\ncurrent=1\nearlier=4\n");
        assertThat(SemaphoreLimit.decode(PATH, resized.encode())).isEqualTo(resized);
        assertThat(resized.beforeResize()).contains(new SemaphoreLimit(4, 4));
        assertThat(resized.resized(2).beforeResize()).contains(new SemaphoreLimit(4, 4));
        assertThat(resized.resized(4)).isEqualTo(SemaphoreLimit.of(4));
        assertThat(SemaphoreLimit.of(4).beforeResize()).isEmpty();
        assertThat(decode("zkrecipes 1\nconfigured=4\ncurrent=3\nearlier=2\n")).isEqualTo(new SemaphoreLimit(4, 3));
    }

    @Test
    void resize_changesWhatIsInForce_andLeavesWhatIsConfigured() {
        SemaphoreLimit resized = SemaphoreLimit.of(4).resized(7);
        assertThat(resized).isEqualTo(new SemaphoreLimit(4, 7));
        resized.requireConfigured(PATH, 4);
        assertThatThrownBy(() -> resized.requireConfigured(PATH, 7))
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining("was made with 4 permits, and this process is configured with 7")
                .hasMessageEndingWith("To change the number in the code, delete the path while nobody uses it");
    }
}

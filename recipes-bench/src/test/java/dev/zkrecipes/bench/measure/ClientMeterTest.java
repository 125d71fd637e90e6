// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ClientMeterTest {
    @Test
    void allocationOfAThread_isSeen() {
        ClientMeter before = ClientMeter.read();
        byte[] large = new byte[1 << 20];
        assertThat(ClientMeter.read().bytesSince(before)).isGreaterThanOrEqualTo(large.length);
    }

    @Test
    void workOfAThread_isSeen() {
        ClientMeter before = ClientMeter.read();
        ClientMeter now = ClientMeter.read();
        while (now.processorNanosSince(before) == 0) {
            now = ClientMeter.read();
        }
        assertThat(now.processorNanosSince(before)).isPositive();
    }
}

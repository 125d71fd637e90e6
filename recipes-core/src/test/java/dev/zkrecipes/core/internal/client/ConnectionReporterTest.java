// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ConnectionReporterTest {
    private final List<ConnectionState> heard = new ArrayList<>();
    private final Consumer<ConnectionState> listener = heard::add;
    private final ConnectionReporter reporter = new ConnectionReporter(() -> Runnable::run);

    @Test
    void stateThatStays_isReportedOnce() {
        reporter.add(listener);
        reporter.report(ConnectionState.CONNECTED);
        reporter.report(ConnectionState.CONNECTED);
        assertThat(heard).containsExactly(ConnectionState.CONNECTED);
    }

    @Test
    void closed_isTheLastReport() {
        reporter.add(listener);
        reporter.report(ConnectionState.CLOSED);
        reporter.report(ConnectionState.EXPIRED);
        assertThat(heard).containsExactly(ConnectionState.CLOSED);
        assertThat(reporter.state()).isEqualTo(ConnectionState.CLOSED);
    }

    @Test
    void listenerAddedTwice_isRemovedOnce() {
        reporter.add(listener);
        reporter.add(listener);
        reporter.remove(listener);
        reporter.report(ConnectionState.CONNECTED);
        assertThat(heard).hasSize(1);
        reporter.remove(listener);
        reporter.report(ConnectionState.SUSPENDED);
        assertThat(heard).hasSize(1);
    }
}

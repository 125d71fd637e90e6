// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventTest {
    @ParameterizedTest
    @EnumSource(Event.Kind.class)
    void everyKind_survivesTheWire(Event.Kind kind) {
        Event event = new Event(12, kind, Map.of("token", Long.MAX_VALUE, "waited", -1L), "at 127.0.0.1:2181");
        assertThat(Event.parse(event.line())).contains(event);
    }

    @Test
    void line_isReadable() {
        assertThat(new Event(2, Event.Kind.GRANTED, Map.of("waited", 9L, "token", 2048L)).line())
                .isEqualTo("2 granted token=2048 waited=9");
        assertThat(new Event(2, Event.Kind.WAITING, Map.of()).line()).isEqualTo("2 waiting");
    }

    @Test
    void note_staysOnOneLine() {
        Event event = new Event(2, Event.Kind.FAILED, Map.of(), " broken\n\tpipe ");
        assertThat(event.line()).isEqualTo("2 failed : broken pipe");
        assertThat(Event.parse(event.line())).contains(event);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "granted",
                "2 unheard",
                "2 granted token",
                "2 granted token=x",
                "2 granted token=9999999999999999999",
                "x granted",
                "Full thread dump OpenJDK 64-Bit Server VM",
                "2 granted token=1 then"
            })
    void otherOutput_isNoEvent(String line) {
        assertThat(Event.parse(line)).isEmpty();
    }

    @Test
    void missingNumber_isNamed() {
        Event event = new Event(2, Event.Kind.GRANTED, Map.of("token", 1L));
        assertThat(event.number("token")).isEqualTo(1);
        assertThatThrownBy(() -> event.number("waited")).hasMessageContaining("no waited in the event: 2 granted");
    }
}

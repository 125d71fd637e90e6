// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final StringWriter out = new StringWriter();

    @Test
    void onATerminal_eachLineReplacesTheOneBefore() {
        Progress progress = new Progress(new PrintWriter(out), true, 2);
        progress.next("a long one");
        progress.next("short");
        assertThat(out.toString()).endsWith("\r[2/2] short");
        assertThat(out.toString()).contains("\r[2/2] short     \r");
    }

    @Test
    void elsewhere_eachIsALine() {
        Progress progress = new Progress(new PrintWriter(out), false, 2);
        progress.next("one");
        progress.clear();
        progress.next("other");
        assertThat(out.toString().lines()).containsExactly("[1/2] one", "[2/2] other");
    }
}

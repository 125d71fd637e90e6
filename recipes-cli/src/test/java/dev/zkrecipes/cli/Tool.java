// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/** A program that tests use and that may be missing here. */
public enum Tool {
    JQ,
    BASH,
    /** Of util-linux: runs a command at a terminal. */
    SCRIPT,
    /** Of util-linux. */
    SETPRIV,
    /** Of util-linux. */
    FLOCK,
    PERL;

    /** For a test that checks something without it, and more with it. */
    public boolean isInstalled() {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(each -> Files.isExecutable(Path.of(each, toString())));
    }

    /** For a test that can check nothing without it: a missing tool is a failure, not a test left out. */
    public void require() {
        assertThat(isInstalled())
                .as("this test needs " + this + ": install it (CONTRIBUTING.md says what the tests need)")
                .isTrue();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerVerdictTest {
    @TempDir
    private Path folder;

    /** Each a process and what it holds from then on, such as {@code 1 read} or {@code 1 -}. */
    private List<Check> verdict(Show show, String... lines) throws IOException {
        Files.write(folder.resolve("ledger"), List.of(lines));
        return LedgerVerdict.of(show, new Ledger(folder).entries());
    }

    private static void assertPassed(List<Check> checks, String... findings) {
        assertThat(checks).allMatch(Check::ok).extracting(Check::finding).containsExactly(findings);
    }

    private static void assertFailed(List<Check> checks, String subject, String finding) {
        assertThat(checks).contains(new Check(false, subject, finding));
    }

    @Test
    void readersTogether_orAWriterAlone_isInOrder() throws IOException {
        assertPassed(
                verdict(new ReadWriteShow(), "1 read", "2 read", "1 -", "2 -", "3 write", "3 read", "1 read", "3 -"),
                "5 by 3 processes, at most 2 together",
                "nobody beside a writer: never violated");
    }

    @Test
    void readerBesideAWriter_fails() throws IOException {
        assertFailed(
                verdict(new ReadWriteShow(), "1 write", "2 read", "3 read", "2 -"),
                "rule",
                "nobody beside a writer: violated 2 times, first by write beside read");
    }

    @Test
    void tooManyPermits_fail() throws IOException {
        assertPassed(
                verdict(new SemaphoreShow(), "1 3", "2 2", "1 -", "3 3"),
                "3 by 3 processes, at most 5 together",
                "no more than 5 permits: never violated");
        assertFailed(
                verdict(new SemaphoreShow(), "1 3", "2 2", "3 1"),
                "rule",
                "no more than 5 permits: violated 1 times, first by 3 beside 2 beside 1");
    }

    @Test
    void accountHeldTwice_fails() throws IOException {
        assertPassed(
                verdict(new MultiLockShow(), "1 0,1", "2 2,3", "1 -", "3 1,0"),
                "3 by 3 processes, at most 2 together",
                "no account held twice, no deadlock: never violated");
        assertFailed(
                verdict(new MultiLockShow(), "1 0,1", "2 2,1"),
                "rule",
                "no account held twice, no deadlock: violated 1 times, first by 0,1 beside 2,1");
    }

    @Test
    void ledgerOfOneProcess_showsNothing() throws IOException {
        assertFailed(verdict(new SemaphoreShow(), "1 3", "1 -"), "holds", "1 by 1 processes, at most 3 together");
        assertFailed(LedgerVerdict.of(new SemaphoreShow(), List.of()), "holds", "0 by 0 processes, at most 0 together");
    }

    @Test
    void damagedLedger_isNotRead() {
        assertThatThrownBy(() -> verdict(new SemaphoreShow(), "1 3", "half a li"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("half a li");
    }

    @Test
    void recordOfTwoVersions_fails() throws IOException {
        ReadWriteShow show = new ReadWriteShow();
        show.prepare(folder);
        assertThat(show.evidence(folder)).noneMatch(Check::ok); // nobody has written
        Files.writeString(folder.resolve("left"), "7");
        Files.writeString(folder.resolve("right"), "7");
        assertThat(show.evidence(folder)).allMatch(Check::ok);
        Files.writeString(folder.resolve("right"), "6");
        assertFailed(show.evidence(folder), "record", "one file is of version 7, the other of 6");
    }

    @Test
    void lostMoney_fails() throws IOException {
        MultiLockShow show = new MultiLockShow();
        show.prepare(folder);
        assertThat(show.evidence(folder)).allMatch(Check::ok);
        Files.writeString(folder.resolve("account-3"), "993");
        assertFailed(show.evidence(folder), "money", "5993 in all accounts, and it was 6000");
    }

    @Test
    void presence_isKeptInTheLedger() throws IOException {
        Ledger ledger = new Ledger(folder);
        Presence presence = Presence.begin(ledger, "write");
        presence.become("read");
        presence.end();
        presence.end();
        List<String> shares = new ArrayList<>();
        ledger.entries().forEach(entry -> shares.add(entry.share()));
        assertThat(shares).containsExactly("write", "read", "");
    }
}

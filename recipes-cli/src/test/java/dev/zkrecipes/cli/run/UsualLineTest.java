// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.cli.connect.ConnectOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

class UsualLineTest {
    private static LockingOptions options() {
        return new LockingOptions(new ConnectOptions(Map.of()), Launcher.ofThisJvm());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/a make",
                "/a",
                "'' make",
                "--connect h:1 /a -- make -n --connect x",
                "-n -v --connect h:1,i:2/c /a make",
                "-s -w 0.25 --label 'a b' --session-timeout 5 /a -- -x",
                "-x --grace 3 --acl open --auth-file f --config g /a @file",
                "-n -w 5 -s -x /a make",
                "--connect=h:1 --label==b --limit 010 --permits +2 -n -E 7 /a make",
            })
    void whatItReads_isWhatPicocliReads(String line) {
        LockingOptions usual = options();
        assertThat(UsualLine.read(List.of(Words.split(line)), usual)).isTrue();
        LockingOptions byPicocli = options();
        new CommandLine(new RunCommand(byPicocli)).setStopAtPositional(true).parseArgs(Words.split(line));
        assertThat(usual)
                .usingRecursiveComparison()
                .ignoringFieldsMatchingRegexes("(.*\\.)?spec", "launcher")
                .isEqualTo(byPicocli);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "-- /a make",
                "-nv /a make",
                "-w5 /a make",
                "-w=5 /a make",
                "-w",
                "-w -n /a make",
                "-n -n /a make",
                "--connect '' /a make",
                "--connect= /a make",
                "--connect=h:1 --connect i:2 /a make",
                "-x=true /a make",
                "--all /a,/b make",
                "--on-lost ignore /a make",
                "--wrong x /a make",
            })
    void theRest_isForPicocli(String line) {
        assertThat(UsualLine.read(List.of(Words.split(line)), options())).isFalse();
    }

    @Test
    void mistakesInAValue_areForPicocli_andOthersAreToldAsTheyAre() {
        assertThatThrownBy(() -> UsualLine.read(List.of("--limit", "0x3", "/a", "make"), options()))
                .isInstanceOf(NumberFormatException.class);
        assertThatThrownBy(() -> UsualLine.read(List.of("-w", "long", "/a", "make"), options()))
                .isInstanceOf(TypeConversionException.class);
        LockingOptions contradiction = options();
        assertThat(UsualLine.read(List.of("-n", "-w", "5", "/a", "make"), contradiction))
                .isTrue();
        assertThatThrownBy(() -> RunCommand.settings(contradiction, contradiction.words()))
                .isInstanceOf(ParameterException.class);
    }
}

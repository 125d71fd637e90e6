// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A keeper without a JVM and a server: a shell script in place of {@code java}, which speaks the lines that the head of
 * {@code bin/zklock} explains. It grants the lock at once, and a test says what it does instead. So the launcher is
 * tested by itself.
 *
 * <p>The script reads the options {@code --grace=N}, {@code --on-lost=ignore} and {@code --pid=N}, and no others. Its
 * folder has what it hears, a line each, in {@code heard}.
 */
final class ScriptedKeeper {
    private static final String SCRIPT = """
            #!/bin/sh
            /bin/pwd >/dev/null 2>&1 || exit 1 # no JVM starts in a folder that was removed
            until [ "$1" = -jar ]; do shift; done
            verb=$3
            shift 3
            cd '%s' || exit
            grace=10 ends=lost script=0
            for each; do
              case $each in
                --grace=*) grace=${each#*=} ;;
                --on-lost=ignore) ends=never ;;
                --pid=*) script=${each#*=} ;;
              esac
            done
            while case $1 in -*) ;; *) break ;; esac; do shift; done
            path=$1 words=$(($# - 1))
            [ "$verb" != hold ] || words=0
            grant() { printf '+env ZKLOCK_%%s\\n' "PATH=$path" FENCE=7 SESSION=0x1 "NODE=$path/n"; echo "+granted ${1:-5}"; }
            # Reports the loss of the lock once there is a file of the name lost.
            watch() { (until [ -e lost ]; do [ -e /proc/$$/exe ] || exit; sleep 0.1; done; echo "zklock: lost" >&3; echo +stop) & }
            exec 3>&2 2>/dev/null
            echo $$ >>keepers
            %s
            echo "+command $words $grace $ends $script"
            while read -r line rest; do
              echo "$line $rest" >>heard
              case $line in
            %s
              esac
            done
            echo "+end 70"
            """;

    private final Path folder;
    private final Map<String, String> answers = new TreeMap<>(Map.of(
            "go", "grant",
            "target", "watch; echo +watched",
            "ask", "echo +alive",
            "over", "echo \"+end ${rest%% *}\"; exit"));
    private String start = ":";

    ScriptedKeeper(Path folder) throws IOException {
        Tool.PERL.require();
        this.folder = Files.createDirectories(folder.resolve("scripted-keeper"));
    }

    /** What the script does before it says that the line is right, in place of nothing. */
    ScriptedKeeper starting(String commands) {
        start = commands;
        return this;
    }

    /** What the script does upon a line of the launcher. {@code $rest} has what follows its first word. */
    ScriptedKeeper upon(String line, String commands) {
        answers.put(line, commands);
        return this;
    }

    /** The environment in which the launcher takes this script for {@code java}. */
    Map<String, String> environment() throws IOException {
        String cases = answers.entrySet().stream()
                .map(each -> "    " + each.getKey() + ") " + each.getValue() + " ;;")
                .collect(Collectors.joining("\n"));
        Path java = Files.createDirectories(folder.resolve("bin")).resolve("java");
        Files.writeString(java, SCRIPT.formatted(folder, start, cases));
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        return Map.of(
                "JAVA_HOME", folder.toString(),
                "ZKLOCK_JAR", java.toString(), // the launcher only looks whether it can be read
                "ZKLOCK_CDS", "off",
                "ZKLOCK", RunningZkLock.LAUNCHER.toString());
    }

    RunningZkLock zklock(String... arguments) throws IOException, InterruptedException {
        return RunningZkLock.start(folder, environment(), arguments);
    }

    /** Runs a script that starts {@code $ZKLOCK}. */
    RunningZkLock script(String shell, String script) throws IOException, InterruptedException {
        return RunningZkLock.script(folder, environment(), shell, script);
    }

    Path file(String name) {
        return folder.resolve(name);
    }

    /** The process of the keeper, which has started. */
    long pid() throws IOException {
        return Long.parseLong(Files.readAllLines(file("keepers")).get(0));
    }

    /** What the launcher has said. */
    List<String> heard() throws IOException {
        return Files.exists(file("heard"))
                ? Files.readAllLines(file("heard")).stream().map(String::strip).toList()
                : List.of();
    }

    void awaitHeard(String line) {
        await().atMost(RunningZkLock.LIMIT).until(() -> heard().stream().anyMatch(each -> each.startsWith(line)));
    }

    /** Has the keeper report the loss of the lock. */
    void lose() throws IOException {
        Files.createFile(file("lost"));
    }
}

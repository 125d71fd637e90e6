// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code zklock hold}: keeps a lock for a script, usually until no process can read the output of {@code bin/zklock}
 * any more. This class reads the command line. The launcher finds out who reads the output, and the {@link Keeper}
 * holds the lock.
 */
@Command(
        name = "hold",
        header = "Holds a lock for the rest of a script.",
        customSynopsis = "zklock hold [-s | -x] [-n | -w SECONDS] [OPTIONS] PATH",
        description = {
            "Prints a line once the lock is held, and holds it until nobody can read its output any more: until the script and "
                    + "what it has started have ended or closed the descriptor. The line has the fencing token (a number that "
                    + "rises from holder to holder), the session and the node. When the lock is lost, the script is ended.",
            ""
        },
        sortOptions = false,
        footerHeading = "%nExamples:%n",
        footer = {
            "  exec 9< <(zklock hold -n /locks/nightly)     in bash",
            "  read -r -u 9 fence session node || exit 1    wait until it is held",
            "  exec 9<&-                                    give it back before the end",
            "  zklock hold -n /locks/nightly >fifo &        in other shells, then:",
            "  exec 9<fifo; read -r fence rest <&9 || exit"
        },
        exitCodeListHeading = "%nExit codes (bash: wait $!):%n",
        exitCodeList = {
            "0:given back",
            "1:not acquired in time; see -E",
            "64, 65, 69, 70, 77:as those of zklock run",
            "76:the lock was lost, and the script was ended",
            "128+N:signal N ended the wait, or the hold if its output is no pipe"
        })
public final class HoldCommand implements Callable<Integer> {
    @Option(
            names = "--pid",
            paramLabel = "PID",
            description = "Who is ended when the lock is lost, with all that it has started. Default: whoever reads the"
                    + " output. If the output is no pipe, the lock is given back when PID has ended.")
    private int pid;

    @Mixin
    private final LockingOptions options;

    /** Called by picocli. */
    HoldCommand() {
        this(new LockingOptions());
    }

    HoldCommand(LockingOptions options) {
        this.options = options;
    }

    @Override
    public Integer call() {
        List<String> rest = options.words();
        Settings settings = options.settings(options.mode(), rest, Optional.empty());
        if (!rest.isEmpty()) {
            throw options.wrong("hold takes no command: leave '" + rest.get(0) + "' out, or use zklock run");
        }
        if (pid < 0) {
            throw options.wrong("--pid is " + pid + ", must be the number of a process, such as $$");
        }
        return options.keep(settings, 0, pid);
    }
}

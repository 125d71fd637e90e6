// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.Seconds;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/**
 * {@code zklock lead}: stands for election repeatedly, and makes {@code bin/zklock} run the command in each term. This
 * class reads the command line; the {@link Keeper} stands and leads.
 */
@Command(
        name = "lead",
        header = "Runs a command while it leads.",
        customSynopsis = "zklock lead [--once] [OPTIONS] PATH [--] COMMAND...",
        description = {
            "Of all candidates for PATH one leads at a time, and only there the command runs. If the leadership is lost,"
                    + " the command is ended: TERM, grace, KILL. If the command ends, the leadership is given back. Either"
                    + " way zklock stands again, behind the others, and starts the command in its next term. TERM, INT and"
                    + " QUIT to zklock go to the command, and zklock ends with it.",
            "The environment is that of zklock run; $ZKLOCK_FENCE is the number of the term, which rises from leader to"
                    + " leader. LeaderElection of zkrecipes and LeaderLatch of Curator stand in the same queue.",
            ""
        },
        sortOptions = false,
        modelTransformer = LeadCommand.Fewer.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock lead /leaders/scheduler -- scheduler --port 80",
            "  zklock lead --once /leaders/migrate migrate.sh",
            "  zklock ls /leaders/scheduler                 who leads, and who stands"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " :that of the command, after a signal or with --once",
            "64, 65, 69, 70, 77, 126, 127:as those of zklock run",
            "76:zklock's JVM was killed or stuck, or zklock was stopped at a loss; with --once: at any loss",
            "128+N:signal N ended zklock while it did not lead"
        })
public final class LeadCommand implements Callable<Integer> {
    private static final Duration PAUSE = Duration.ofSeconds(10);

    @Option(names = "--once", description = "Lead for one term. Default: stand again after each.")
    private boolean once;

    @Option(
            names = "--pause",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "Stand again no sooner than this after the command was started. Default: 10.")
    private @Nullable Duration pause;

    @Mixin
    private final LockingOptions options;

    /** Called by picocli. */
    LeadCommand() {
        this(new LockingOptions());
    }

    LeadCommand(LockingOptions options) {
        this.options = options;
    }

    @Override
    public Integer call() {
        List<String> command = options.words();
        if (once && pause != null) {
            throw options.wrong("--pause is for the next term, and with --once there is none: give one of them");
        }
        Optional<Duration> terms = once ? Optional.empty() : Optional.of(pause == null ? PAUSE : pause);
        Settings settings = options.settings(LockChoice.Mode.LEADER, command, terms);
        options.requireCommand(command);
        return options.keep(settings, command.size());
    }

    /**
     * Removes the options that do not apply to a leadership: those for the kind of lock and for the wait, and the
     * choice of what happens to the command after a loss.
     */
    static final class Fewer implements IModelTransformer {
        @Override
        public CommandSpec transform(CommandSpec spec) {
            ConnectOptions.without(spec, "-n", "-w", "--timeout", "-E", "--on-lost", "--on-revoke");
            return ConnectOptions.without(spec, "-x", "-s", "--limit", "--permits", "--all");
        }
    }
}

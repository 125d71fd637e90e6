// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import dev.zkrecipes.cli.bench.BenchCommand;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.demo.DemoCommand;
import dev.zkrecipes.cli.doctor.DoctorCommand;
import dev.zkrecipes.cli.operate.BreakCommand;
import dev.zkrecipes.cli.operate.LsCommand;
import dev.zkrecipes.cli.operate.RevokeCommand;
import dev.zkrecipes.cli.run.HoldCommand;
import dev.zkrecipes.cli.run.Keeper;
import dev.zkrecipes.cli.run.LeadCommand;
import dev.zkrecipes.cli.run.RunCommand;
import dev.zkrecipes.cli.server.ServerCommand;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import org.apache.zookeeper.Version;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The {@code zklock} command: reads the command line, runs one sub-command, and ends the JVM with an exit code.
 *
 * <p>The launcher {@code bin/zklock} starts this JVM. For {@code run}, {@code lead} and {@code hold} the JVM is the
 * {@link Keeper} of the lock, and the launcher runs the command. {@code run} starts as quickly as possible: usual
 * command lines are read without picocli, and for all others picocli creates only this sub-command.
 */
@Command(
        name = "zklock",
        description = "Locks that processes share through ZooKeeper.",
        mixinStandardHelpOptions = true,
        versionProvider = ZkLock.class,
        subcommands = {
            RunCommand.class,
            LeadCommand.class,
            HoldCommand.class,
            LsCommand.class,
            RevokeCommand.class,
            BreakCommand.class,
            DoctorCommand.class,
            ServerCommand.class,
            BenchCommand.class,
            DemoCommand.class,
            CompletionCommand.class,
            CommandLine.HelpCommand.class
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the command failed, or the lock was not acquired in time",
            "64:the command line is wrong; nothing was sent",
            "65:the path cannot serve as this lock",
            "69:no server could be reached",
            "70:zklock itself failed",
            "74:the output cannot be written",
            "76:the lock was lost while the command ran",
            "77:no rights",
            "126, 127, 128+N:see zklock run --help"
        })
public final class ZkLock implements Runnable, IVersionProvider {
    @Spec
    private CommandSpec spec;

    private ZkLock() {}

    /**
     * Runs the command and ends the JVM with its exit code.
     *
     * @param args the command line
     */
    public static void main(String[] args) {
        if (args.length > 0 && List.of("run", "lead", "hold").contains(args[0])) {
            QuickStart.prepare(args);
        }
        boolean runs = args.length > 0 && args[0].equals("run");
        int code = runs ? run(Arrays.copyOfRange(args, 1, args.length)) : execute(commandLine(), args);
        // A JVM that does not start also exits with 1. So the launcher chooses another code for commands that failed,
        // in the property zklock.failed.
        boolean isTold = code == ExitCodes.FAILED;
        System.exit(Keeper.end(isTold ? Integer.getInteger("zklock.failed", code) : code));
    }

    private static int run(String[] line) {
        try {
            OptionalInt code = RunCommand.runUsual(Arrays.asList(line));
            return code.isPresent() ? code.getAsInt() : execute(runAlone(), line);
        } catch (ParameterException e) {
            // Reports the error without picocli. Picocli would read the line and its files again, and a file may be a
            // pipe, which can be read only once.
            return new Complaints().handleParseException(new ParameterException(runAlone(), e.getMessage()), line);
        }
    }

    /** Runs a command. If its output cannot be written, for example to a full disk, that is an error of its own. */
    private static int execute(CommandLine command, String[] args) {
        StandardOutput output = new StandardOutput();
        PrintWriter out = new PrintWriter(output, true, Charset.defaultCharset());
        int code = command.setOut(out).execute(args);
        out.flush();
        return output.failure()
                .map(failure -> {
                    command.getErr().println("zklock: the output cannot be written: " + failure);
                    return code == ExitCodes.OK ? ExitCodes.UNWRITTEN : code;
                })
                .orElse(code);
    }

    /** Returns {@code zklock run} alone: it starts more quickly if picocli need not create the other commands. */
    static CommandLine runAlone() {
        return configured(new CommandLine(new RunCommand()).setCommandName("zklock run"))
                .setStopAtPositional(true);
    }

    static CommandLine commandLine() {
        CommandLine zklock = configured(new CommandLine(new ZkLock()));
        // All words after PATH belong to the user's command, even if they look like options of zklock.
        for (String name : List.of("run", "lead")) {
            Objects.requireNonNull(zklock.getSubcommands().get(name)).setStopAtPositional(true);
        }
        return zklock;
    }

    private static CommandLine configured(CommandLine command) {
        return command.setUsageHelpWidth(80)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExpandAtFiles(false) // an argument of the user's command may begin with @
                .setParameterExceptionHandler(new Complaints())
                .setExecutionExceptionHandler(new Complaints());
    }

    @Override
    public String[] getVersion() {
        String built = ZkLock.class.getPackage().getImplementationVersion();
        return new String[] {
            "zklock " + (built == null ? "(not from a jar)" : built),
            "ZooKeeper client " + Version.getVersion() + ", Java " + Runtime.version()
        };
    }

    /** Called by picocli if the command line names no sub-command. */
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}

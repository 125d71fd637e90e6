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

/** The {@code zklock} command. */
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
        boolean isTold = code == ExitCodes.FAILED; // as something else than the launcher's JVM that does not start
        System.exit(Keeper.end(isTold ? Integer.getInteger("zklock.failed", code) : code));
    }

    private static int run(String[] line) {
        try {
            OptionalInt code = RunCommand.runUsual(Arrays.asList(line));
            return code.isPresent() ? code.getAsInt() : execute(runAlone(), line);
        } catch (ParameterException e) { // not to be read again by picocli: the files that it names may be pipes
            return new Complaints().handleParseException(new ParameterException(runAlone(), e.getMessage()), line);
        }
    }

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

    /** {@code zklock run} alone, so that it starts quickly: the other commands are not even created. */
    static CommandLine runAlone() {
        return configured(new CommandLine(new RunCommand()).setCommandName("zklock run"))
                .setStopAtPositional(true);
    }

    static CommandLine commandLine() {
        CommandLine zklock = configured(new CommandLine(new ZkLock()));
        // What follows PATH belongs to the command that is run.
        for (String name : List.of("run", "lead")) {
            Objects.requireNonNull(zklock.getSubcommands().get(name)).setStopAtPositional(true);
        }
        return zklock;
    }

    private static CommandLine configured(CommandLine command) {
        return command.setUsageHelpWidth(80)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExpandAtFiles(false) // the user's command may have arguments like @that
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

    /** Without a sub-command there is nothing to do. */
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }
}

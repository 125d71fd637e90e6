// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.server;

import com.google.common.base.Throwables;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.EmbeddedZooKeeperBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code zklock server}: runs a ZooKeeper server for development inside this JVM, until a signal ends it. It fails if
 * the port is taken, or if another server uses the data folder.
 */
@Command(
        name = "server",
        header = "Runs a ZooKeeper server for development.",
        description = {
            "The server listens on 127.0.0.1, so that only this machine reaches it, and its connect string is printed. It ends with Ctrl-C or TERM. Nothing is forced to disk: the data outlive the server, not a crash of the "
                    + "machine. Session time-outs are 1 to 60 s.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "1:the port or the data folder is in use, or cannot be used",
            "64:the command line is wrong",
            "130:ended with Ctrl-C",
            "143:ended with TERM"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock server",
            "  zklock server --data ~/zookeeper",
            "  zklock server --port 0 > connect-string & # any port that is free",
            "  export ZKLOCK_CONNECT=127.0.0.1:2181; zklock ls -r /"
        })
public final class ServerCommand implements Callable<Integer> {
    private static final int MOST_PORT = 65_535;
    private static final String SERVERS_LOG = "org.slf4j.simpleLogger.log.org.apache.zookeeper";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--port",
            paramLabel = "N",
            defaultValue = "2181",
            description = "The port, 1 to " + MOST_PORT + "; 0 for any that is free. Default: ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--data",
            paramLabel = "FOLDER",
            description =
                    "Where to keep the data; made if it does not exist. Default: a temporary folder that is removed.")
    private @Nullable Path data;

    ServerCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        if (port < 0 || port > MOST_PORT) {
            throw wrong("--port is " + port + ", must be 1 to " + MOST_PORT + ", or 0 for any port that is free");
        }
        EmbeddedZooKeeperBuilder builder = EmbeddedZooKeeper.builder().port(port);
        Path folder = data;
        if (folder == null) {
            return run(builder);
        }
        if (folder.toString().isBlank()) {
            throw wrong(
                    "--data: the name of the folder is empty; give one, or leave --data out for a temporary folder");
        }
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw wrong("--data " + folder + " is not a folder: give another one");
        }
        // Two servers in one folder would corrupt the transaction log. The operating system releases this file lock
        // with the process, however the process ends.
        try (FileChannel channel = FileChannel.open(
                        Files.createDirectories(folder).resolve("zklock.lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            return lock == null
                    ? failed("another server has the data folder " + folder + ": stop it, or give another --data")
                    : run(builder.dataDirectory(folder));
        } catch (IOException e) {
            return failed("--data " + folder + " cannot be used: " + reason(e) + "; give another one");
        }
    }

    private int run(EmbeddedZooKeeperBuilder builder) throws InterruptedException {
        if (System.getProperty(SERVERS_LOG) == null) {
            System.setProperty(SERVERS_LOG, "error");
        }
        EmbeddedZooKeeper server;
        try {
            server = builder.start();
        } catch (UncheckedIOException e) {
            return failed(
                    Throwables.getCausalChain(e).stream().anyMatch(BindException.class::isInstance)
                            ? "port " + port + " is in use: give another --port, or --port 0 for any that is free"
                            : "the server does not start"
                                    + (data == null ? ": " : " with --data " + data + ": ")
                                    + reason(Throwables.getRootCause(e)));
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close, "server's end"));
        PrintWriter out = spec.commandLine().getOut();
        out.println(server.connectString());
        out.flush();
        new CountDownLatch(1).await(); // for ever: only a signal ends the JVM
        return ExitCodes.OK;
    }

    /** Describes an error in words. The message of a {@code FileSystemException} may be no more than a file name. */
    private static String reason(Throwable e) {
        if (e instanceof FileSystemException file && file.getReason() == null) {
            return e instanceof AccessDeniedException ? "no right to write there" : "no folder can be made there";
        }
        String told = e instanceof FileSystemException file ? file.getReason() : e.getMessage();
        return told == null ? e.toString() : told;
    }

    private int failed(String message) {
        spec.commandLine().getErr().println("zklock: " + message);
        return ExitCodes.FAILED;
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}

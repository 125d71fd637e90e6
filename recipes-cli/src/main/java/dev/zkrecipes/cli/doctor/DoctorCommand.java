// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPathConverter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code zklock doctor}: whether locks can be had from these servers. */
@Command(
        name = "doctor",
        header = "Checks servers, rights and round trips.",
        description = {
            "A line for each thing that locks need: OK, or FAIL and what to do. The servers are asked one by one, each in a "
                    + "session of its own. The rights are tried on a node beside the locks, which is deleted again. What a server "
                    + "does not tell is said, and counts as OK.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all is well",
            "1:there is something to do, see the lines with FAIL",
            "64:the command line is wrong; nothing was sent",
            "69:no server gave a session"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock doctor",
            "  zklock doctor --connect zk1:2181,zk2:2181,zk3:2181/ops /locks",
            "  zklock doctor --config client.properties && ./deploy"
        })
public final class DoctorCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectOptions connection = new ConnectOptions();

    @Parameters(
            paramLabel = "PATH",
            arity = "0..1",
            converter = LockPathConverter.class,
            description = "Where the locks shall be, to try the rights there. Default: /.")
    private String path = "/";

    private boolean allOk = true;

    /** For picocli. */
    public DoctorCommand() {}

    /**
     * Checks everything.
     *
     * @return the exit code
     * @throws InterruptedException if the thread is interrupted
     */
    @Override
    public Integer call() throws InterruptedException {
        var unused = connection.client(); // which checks the command line
        ConnectStringParser servers = new ConnectStringParser(connection.servers());
        String chroot = Optional.ofNullable(servers.getChrootPath()).orElse("");
        say(Finding.ok(
                "connect",
                servers.getServerAddresses().size()
                        + (servers.getServerAddresses().size() == 1 ? " server, " : " servers, ")
                        + (chroot.isEmpty() ? "no chroot" : "chroot " + chroot)));
        List<ZooKeeper> sessions = new ArrayList<>();
        try {
            for (InetSocketAddress address : servers.getServerAddresses()) {
                ServerCheck server = new ServerCheck(address, connection);
                say(server.run());
                server.session().ifPresent(sessions::add);
            }
            if (sessions.isEmpty()) {
                return ExitCodes.NO_SERVER;
            }
            new LockCheck(sessions.get(0), chroot, path, connection, this::say).run();
            return allOk ? ExitCodes.OK : ExitCodes.FAILED;
        } finally {
            for (ZooKeeper session : sessions) {
                session.close();
            }
        }
    }

    private void say(Finding finding) {
        allOk &= finding.ok();
        spec.commandLine()
                .getOut()
                .printf("%-5s %-16s %s%n", finding.ok() ? "OK" : "FAIL", finding.subject(), finding.text());
    }
}

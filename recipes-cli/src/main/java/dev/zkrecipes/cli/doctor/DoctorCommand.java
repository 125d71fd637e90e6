// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

import com.google.common.net.HostAndPort;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.cli.operate.LockNodes;
import dev.zkrecipes.cli.text.Page;
import dev.zkrecipes.cli.text.Page.Colour;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.internal.diagnosis.ServerProbe;
import dev.zkrecipes.core.internal.queue.WaitGraph;
import dev.zkrecipes.core.internal.zk.Obstacle;
import dev.zkrecipes.core.internal.zk.SaslLogin;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code zklock doctor}: checks whether locks work on these servers, and prints a line for each finding.
 *
 * <p>It opens a session of its own at each address of each server. Through the first session it then sends the
 * requests that a lock sends, to a scratch node beside the user's locks, and deletes that node again. A check that
 * fails is reported with advice, and the command goes on as far as it can.
 */
@Command(
        name = "doctor",
        header = "Checks servers, rights and round trips.",
        description = {
            "A line for each thing that locks need: OK, or FAIL and what to do. The servers are asked one by one, "
                    + "at each address of their names, each in a session of its own. The rights are tried on a node beside the locks, which is deleted again. What a server "
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
            "69:no server gave a session",
            "77:the SASL login failed"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock doctor",
            "  zklock doctor --connect zk1:2181,zk2:2181,zk3:2181/ops /locks",
            "  zklock doctor --locks /locks",
            "  zklock doctor --config client.properties && ./deploy"
        })
public final class DoctorCommand implements Callable<Integer> {
    private static final int ROUNDS = 9;
    private static final long MOST_SKEW_MILLIS = 5_000;
    private static final int FOUND = 23; // the column of the findings

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

    @Option(
            names = "--locks",
            paramLabel = "PATH",
            converter = LockPathConverter.class,
            description = "Also look at the locks at this path and below it: whether threads that hold one and wait for"
                    + " another wait for each other.")
    private @Nullable String locks;

    private boolean allOk = true;
    private String step = "";
    private @Nullable Page page; // null before the first finding

    DoctorCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        // Called only once, because a file of credentials may be a pipe.
        ZooKeeperClientBuilder builder = connection.client().closeOnShutdown();
        ConnectStringParser servers = new ConnectStringParser(connection.servers());
        String chroot = Optional.ofNullable(servers.getChrootPath()).orElse("");
        List<HostAndPort> named = servers.getServerAddresses().stream()
                .map(address -> HostAndPort.fromParts(address.getHostString(), address.getPort()))
                .toList();
        say(
                true,
                "connect",
                named.size()
                        + (named.size() == 1 ? " server, " : " servers, ")
                        + (chroot.isEmpty() ? "no chroot" : "chroot " + chroot));
        SaslLogin login = new SaslLogin(connection.clientConfig().orElse(null), named);
        boolean logsIn = login.isWanted();
        Optional<Obstacle> refused = logsIn ? login.trouble() : Optional.empty();
        refused.ifPresent(why -> say(false, "login", why.text()));
        List<ZooKeeper> sessions = new ArrayList<>();
        try {
            for (HostAndPort name : named) {
                for (ServerProbe.Server address : ServerProbe.Server.of(name)) {
                    ServerCheck server = new ServerCheck(address, connection, logsIn);
                    String found = server.run(refused.isEmpty());
                    say(server.session().isPresent(), address.name(), found);
                    server.session().ifPresent(sessions::add);
                }
            }
            if (sessions.isEmpty()) {
                return refused.isPresent() ? ExitCodes.NO_RIGHTS : ExitCodes.NO_SERVER;
            }
            checkLocks(sessions.get(0), chroot);
            if (locks != null) {
                checkDeadlocks(builder, locks);
            }
            say(true, "identity", identity(sessions.get(0)));
            return allOk ? ExitCodes.OK : ExitCodes.FAILED;
        } finally {
            for (ZooKeeper session : sessions) {
                session.close();
            }
        }
    }

    /**
     * Looks for deadlocks among the locks at a path and below it. The nodes are read one by one, so a transaction
     * checks afterwards that the nodes of a deadlock exist at the same time. A deadlock that fails this check is not
     * reported.
     */
    private void checkDeadlocks(ZooKeeperClientBuilder builder, String root) throws InterruptedException {
        try (ZooKeeperClient client = connection.open(builder, ConnectOptions.CONNECT_LIMIT)) {
            LockNodes nodes = LockNodes.below(client, root);
            ZooKeeper zk = client.zooKeeper().orElseThrow(); // its paths are below the chroot, like those of the nodes
            WaitGraph graph = new WaitGraph();
            nodes.byLock().forEach((lock, all) -> all.forEach((node, content) -> graph.add(lock, node, content)));
            int found = 0;
            for (WaitGraph.Circle circle : graph.circles(Instant.now())) {
                if (areThereAtOnce(zk, circle.nodes())) {
                    String members = PlainText.of(new Deadlock(circle.isCertain(), circle.members()).toString());
                    say(
                            !circle.isCertain(),
                            "deadlock",
                            circle.isCertain() ? members + "; end one of these" : "suspected: " + members);
                    found++;
                }
            }
            if (found == 0) {
                say(true, "deadlocks", "0 among " + nodes.byLock().size() + " locks at " + root);
            }
        } catch (LockException e) {
            say(false, "deadlocks", String.valueOf(e.getMessage()));
        } catch (KeeperException e) {
            say(false, "deadlocks", couldNot("check the nodes of a deadlock", e));
        }
    }

    private static boolean areThereAtOnce(ZooKeeper zk, List<String> nodes)
            throws InterruptedException, KeeperException {
        try {
            zk.multi(nodes.stream().map(node -> Op.check(node, -1)).toList());
            return true;
        } catch (KeeperException.NoNodeException e) {
            return false;
        }
    }

    private void say(boolean ok, String subject, String found) {
        allOk &= ok;
        Page shown = page == null ? Page.of(spec.commandLine().getOut()) : page;
        page = shown;
        String verdict = ok ? "OK" : "FAIL";
        String line = String.format("%-5s %-16s %s", verdict, subject, found);
        shown.show(ok ? Colour.GREEN : Colour.RED, verdict.length(), line, FOUND);
    }

    /**
     * Checks that the chroot exists, and then sends the requests of a lock to a scratch node. The field {@code step}
     * names the current request, for the message if ZooKeeper refuses it.
     */
    private void checkLocks(ZooKeeper zk, String chroot) throws InterruptedException {
        try {
            say(true, "session", session(zk));
            step = "look at the chroot";
            if (!chroot.isEmpty() && zk.exists(chroot, false) == null) {
                say(
                        false,
                        "chroot",
                        chroot + " does not exist: create it (zkCli.sh: create " + chroot
                                + "), as no lock creates it; or correct the connect string");
                return;
            }
            say(true, "chroot", chroot.isEmpty() ? "none" : chroot + " exists");
            step = "look at " + path;
            String parent = chroot + (path.equals("/") ? "" : path);
            while (!parent.isEmpty() && zk.exists(parent, false) == null) {
                parent = parent.substring(0, parent.lastIndexOf('/'));
            }
            step = "create a node below " + (parent.isEmpty() ? "/" : parent) + " (CREATE)";
            String scratch = parent + "/zklock-doctor-" + UUID.randomUUID();
            zk.create(scratch, new byte[0], connection.acl(), CreateMode.CONTAINER);
            lock(zk, scratch);
        } catch (KeeperException e) {
            say(false, "rights", couldNot(step, e));
        }
    }

    private String session(ZooKeeper zk) {
        long asked = connection.sessionTimeout().toMillis();
        String limits = zk.getSessionTimeout() == asked
                ? ""
                : " where " + asked / 1e3 + " s was requested (minSessionTimeout and maxSessionTimeout of the servers)";
        int packet =
                zk.getClientConfig().getInt(ZKConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
        return "time-out " + zk.getSessionTimeout() / 1e3 + " s" + limits + "; packets up to " + packet
                + " bytes (jute.maxbuffer here; servers do not tell theirs)";
    }

    /**
     * Returns the identity of the session at the servers. Call this last: a server older than 3.7 closes the connection
     * instead.
     */
    private static String identity(ZooKeeper zk) throws InterruptedException {
        try {
            return "authenticated as "
                    + PlainText.of(zk.whoAmI().stream()
                            .map(info -> info.getAuthScheme() + ":" + info.getUser())
                            .collect(Collectors.joining(", ")));
        } catch (RuntimeException e) { // without an answer, ZooKeeper's client returns null
            return "unknown, as the server is older than 3.7";
        }
    }

    private static String couldNot(String step, KeeperException e) {
        String advice = switch (e.code()) {
            case NOAUTH -> "give credentials that have the right (--auth-file), or have the ACL changed";
            case INVALIDACL -> "--acl names a user or a scheme that this session has no credentials of";
            case UNIMPLEMENTED -> "locks need container nodes: update the servers to 3.6 or newer";
            default -> "try again, and see the server's log";
        };
        return "could not " + step + ": " + e.code() + "; " + advice;
    }

    /** Creates, lists, reads and deletes nodes as a lock does, and reports the rights, the clock and the times. */
    private void lock(ZooKeeper zk, String scratch) throws InterruptedException, KeeperException {
        List<Long> acquires = new ArrayList<>();
        List<Long> releases = new ArrayList<>();
        List<Long> skews = new ArrayList<>();
        boolean isDeleted;
        try {
            step = "create a node with --acl below one with --acl (CREATE)";
            String stays = zk.create( // keeps servers from removing the empty container between two rounds
                    scratch + "/stays-", new byte[0], connection.acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
            for (int i = 0; i < ROUNDS; i++) {
                step = "create a node with --acl below one with --acl (CREATE)";
                long before = System.currentTimeMillis();
                long begin = System.nanoTime();
                Stat stat = new Stat();
                String node = zk.create(
                        scratch + "/n-", new byte[0], connection.acl(), CreateMode.EPHEMERAL_SEQUENTIAL, stat);
                acquires.add(System.nanoTime() - begin);
                // The server set the node's time at some moment between these two readings. Their midpoint is the best
                // estimate.
                skews.add(stat.getCtime() - (before + System.currentTimeMillis()) / 2);
                step = "list and read nodes with --acl (READ)";
                zk.getChildren(scratch, false);
                zk.getData(node, false, null);
                step = "delete a node below one with --acl (DELETE)";
                begin = System.nanoTime();
                zk.delete(node, -1);
                releases.add(System.nanoTime() - begin);
            }
            zk.delete(stays, -1);
        } finally {
            isDeleted = isDeleted(zk, scratch);
        }
        if (isDeleted) {
            say(true, "rights", "create, list, read and delete " + (path.equals("/") ? "here" : "at " + path));
        }
        say(true, "containers", "supported");
        long skew = median(skews);
        boolean isNear = Math.abs(skew) <= MOST_SKEW_MILLIS;
        say(
                isNear,
                "clock",
                "the servers' clock differs from this machine's by " + skew + " ms"
                        + (isNear ? "" : ": set both by NTP; locks keep, but the ages that zklock ls shows are wrong"));
        say(
                true,
                "cost",
                String.format(
                        Locale.ROOT,
                        "acquire %.1f ms: one round trip with a write (create, list); release %.1f ms: one more (delete)",
                        median(acquires) / 1e6,
                        median(releases) / 1e6));
    }

    /** Deletes the scratch node. If that fails, reports the reason and returns false. */
    private boolean isDeleted(ZooKeeper zk, String scratch) throws InterruptedException {
        try {
            zk.delete(scratch, -1);
            return true;
        } catch (KeeperException.NoNodeException e) {
            return true; // the servers have just removed the empty container
        } catch (KeeperException e) {
            say(
                    false,
                    "rights",
                    couldNot("delete " + scratch + " (DELETE on its parent)", e)
                            + "; the servers remove it by themselves if something was below it");
            return false;
        }
    }

    private static long median(List<Long> all) {
        return all.stream().sorted().skip(all.size() / 2).findFirst().orElseThrow();
    }
}

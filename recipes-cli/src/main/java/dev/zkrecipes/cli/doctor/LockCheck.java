// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.text.PlainText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** What a lock does, done on a node of its own: whether the rights suffice, and how long it takes. */
final class LockCheck {
    private static final int ROUNDS = 9;
    private static final long MOST_SKEW_MILLIS = 5_000;

    private final ZooKeeper zk;
    private final String chroot;
    private final String path;
    private final ConnectOptions connection;
    private final List<ACL> acl;
    private final Consumer<Finding> out;
    private String step = "";

    LockCheck(ZooKeeper zk, String chroot, String path, ConnectOptions connection, Consumer<Finding> out) {
        this.zk = zk;
        this.chroot = chroot;
        this.path = path;
        this.connection = connection;
        this.acl = connection.acl();
        this.out = out;
    }

    void run() throws InterruptedException {
        try {
            tellSession();
            step = "look at the chroot";
            if (!chroot.isEmpty() && zk.exists(chroot, false) == null) {
                out.accept(Finding.bad(
                        "chroot",
                        chroot + " does not exist: create it (zkCli.sh: create " + chroot
                                + "), as no lock creates it; or correct the connect string"));
                return;
            }
            out.accept(Finding.ok("chroot", chroot.isEmpty() ? "none" : chroot + " exists"));
            step = "look at " + PlainText.of(path);
            String parent = existing(chroot + (path.equals("/") ? "" : path));
            String scratch = (parent.equals("/") ? "" : parent) + "/zklock-doctor-" + UUID.randomUUID();
            if (makeContainer(parent, scratch)) {
                lock(scratch);
            }
        } catch (KeeperException e) {
            out.accept(Finding.bad("rights", "could not " + step + ": " + e.code() + advice(e)));
        }
    }

    private void tellSession() throws InterruptedException {
        long asked = connection.sessionTimeout().toMillis();
        int packet =
                zk.getClientConfig().getInt(ZKConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
        String who;
        try {
            who = zk.whoAmI().stream()
                    .map(info -> info.getAuthScheme() + ":" + info.getUser())
                    .collect(Collectors.joining(", "));
        } catch (RuntimeException e) {
            who = "(unknown, as the server is older than 3.7)";
        }
        out.accept(Finding.ok(
                "session",
                "time-out " + zk.getSessionTimeout() / 1e3 + " s"
                        + (zk.getSessionTimeout() == asked
                                ? ""
                                : " where " + asked / 1e3
                                        + " s was requested (minSessionTimeout and maxSessionTimeout of the servers)")
                        + ", authenticated as " + PlainText.of(who) + "; packets up to "
                        + packet + " bytes (jute.maxbuffer here; servers do not tell theirs)"));
    }

    private static String advice(KeeperException e) {
        return switch (e.code()) {
            case NOAUTH -> "; give credentials that have the right (--auth-file), or have the ACL changed";
            case INVALIDACL -> "; --acl names a user or a scheme that this session has no credentials of";
            default -> "; try again, and see the server's log";
        };
    }

    /** The path, or what there is of it. */
    private String existing(String wanted) throws InterruptedException, KeeperException {
        String found = wanted.isEmpty() ? "/" : wanted;
        while (found.length() > 1 && zk.exists(found, false) == null) {
            found = found.substring(0, Math.max(1, found.lastIndexOf('/')));
        }
        return found;
    }

    private boolean makeContainer(String parent, String scratch) throws InterruptedException, KeeperException {
        step = "create a node below " + PlainText.of(parent) + " (CREATE)";
        try {
            zk.create(scratch, new byte[0], acl, CreateMode.CONTAINER);
            return true;
        } catch (KeeperException.UnimplementedException e) {
            out.accept(Finding.bad("containers", "not supported: update the servers to 3.6 or newer"));
            return false;
        }
    }

    private void lock(String scratch) throws InterruptedException, KeeperException {
        boolean isDeleted;
        List<Long> acquires = new ArrayList<>();
        List<Long> releases = new ArrayList<>();
        List<Long> skews = new ArrayList<>();
        try {
            for (int i = 0; i < ROUNDS; i++) {
                step = "create a node with --acl below one with --acl (CREATE)";
                long before = System.currentTimeMillis();
                long begin = System.nanoTime();
                Stat stat = new Stat();
                String node = zk.create(scratch + "/n-", new byte[0], acl, CreateMode.EPHEMERAL_SEQUENTIAL, stat);
                acquires.add(System.nanoTime() - begin);
                skews.add(stat.getCtime() - (before + System.currentTimeMillis()) / 2);
                step = "list and read nodes with --acl (READ)";
                zk.getChildren(scratch, false);
                zk.getData(node, false, null);
                step = "delete a node below one with --acl (DELETE)";
                begin = System.nanoTime();
                zk.delete(node, -1);
                releases.add(System.nanoTime() - begin);
            }
        } finally {
            isDeleted = delete(scratch);
        }
        if (isDeleted) {
            String where = path.equals("/") ? "here" : "at " + path;
            out.accept(Finding.ok("rights", "create, list, read and delete " + where));
        }
        out.accept(Finding.ok("containers", "supported"));
        tellSkew(median(skews));
        out.accept(Finding.ok(
                "cost",
                "acquire " + millis(acquires) + " ms: one round trip with a write (create, list); release "
                        + millis(releases) + " ms: one more (delete)"));
    }

    private boolean delete(String scratch) throws InterruptedException {
        try {
            zk.delete(scratch, -1);
            return true;
        } catch (KeeperException e) {
            out.accept(Finding.bad(
                    "rights",
                    "could not delete " + PlainText.of(scratch) + " (DELETE on its parent): " + e.code() + advice(e)
                            + "; the servers remove it by themselves if something was below it"));
            return false;
        }
    }

    private void tellSkew(long skew) {
        String told = "the servers' clock differs from this machine's by " + skew + " ms";
        out.accept(
                Math.abs(skew) <= MOST_SKEW_MILLIS
                        ? Finding.ok("clock", told)
                        : Finding.bad(
                                "clock",
                                told + ": set both by NTP; locks keep, but the ages that zklock ls shows are wrong"));
    }

    private static long median(List<Long> all) {
        return all.stream().sorted().skip(all.size() / 2).findFirst().orElseThrow();
    }

    private static String millis(List<Long> nanos) {
        return String.format(Locale.ROOT, "%.1f", median(nanos) / 1e6);
    }
}

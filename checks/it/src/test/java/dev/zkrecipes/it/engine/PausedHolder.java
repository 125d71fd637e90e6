// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * A process that holds a mutex and keeps checking whether it still does. It notices when it was stopped for longer than its
 * session lasts, and then records the first answers that it gets.
 */
final class PausedHolder {
    static final Duration SESSION = Duration.ofSeconds(4);

    private final Path diary;

    private PausedHolder(Path diary) {
        this.diary = diary;
    }

    /** Arguments: connect string, path of the lock, node to write to, diary. */
    public static void main(String[] args) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        // The store is another system with sessions of its own: it would take a late write if nothing guarded it.
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(args[0])
                        .sessionTimeout(SESSION)
                        .build();
                ZooKeeper store = new ZooKeeper(args[0], 60_000, event -> connected.countDown())) {
            connected.await();
            new PausedHolder(Path.of(args[3])).hold(new InterProcessMutex(client, args[1]), store, args[2]);
        }
    }

    private void hold(InterProcessMutex mutex, ZooKeeper store, String target) throws Exception {
        try (Lease lease = mutex.acquire()) {
            Op guard = lease.guard();
            store.multi(List.of(guard, Op.setData(target, new byte[] {1}, -1)));
            note("token=" + lease.fencingToken());
            long last = System.nanoTime();
            while (true) {
                long asked = System.nanoTime();
                boolean valid = lease.isValid();
                if (asked - last > SESSION.toNanos()) {
                    note("valid=" + valid);
                    note("token-again=" + answer(lease::fencingToken));
                    note("guard-again=" + answer(lease::guard));
                    note("guarded-write=" + write(store, guard, Op.setData(target, new byte[] {2}, -1)));
                    note("unguarded-write=" + write(store, Op.check("/", -1), Op.check(target, -1)));
                    return;
                }
                last = asked;
                LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
            }
        }
    }

    private static String answer(Supplier<?> question) {
        try {
            return String.valueOf(question.get());
        } catch (LockLostException e) {
            return "lost";
        }
    }

    private static String write(ZooKeeper store, Op... ops) throws InterruptedException {
        try {
            store.multi(List.of(ops));
            return "done";
        } catch (KeeperException e) {
            return e.code().toString();
        }
    }

    private void note(String line) throws IOException {
        Files.writeString(diary, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}

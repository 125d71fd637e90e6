// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex.engine;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A process of which {@link LockLogIT} reads the log: it acquires, releases, finds a lock busy, and loses one. */
final class LoggedProcess {
    private LoggedProcess() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(
                "jdk.jfr: " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(arguments[0])
                .sessionTimeout(Duration.ofHours(1))
                .build()) {
            InterProcessMutex mutex = new InterProcessMutex(
                    client, "/logged", LockOptions.defaults().withName("orders"));
            mutex.acquire().close();
            Lease lease = mutex.acquire();
            CompletableFuture<?> busy = CompletableFuture.runAsync(mutex::tryAcquire);
            busy.join();
            client.zooKeeper().orElseThrow().delete(lease.guard().getPath(), -1);
            while (lease.isValid()) {
                try {
                    lease.verify();
                } catch (LockLostException e) {
                    break;
                }
            }
            lease.close();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * A process of which {@link LockLogIT} reads the log: it acquires, releases, finds a lock busy, loses one, waits
 * for one, and loses its connection.
 */
final class LoggedProcess {
    private LoggedProcess() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(
                "jdk.jfr: " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
        String[] server = arguments[0].split(":", -1);
        CountDownLatch slow = new CountDownLatch(1);
        CountDownLatch left = new CountDownLatch(1);
        try (FaultProxy proxy = FaultProxy.to(server[0], Integer.parseInt(server[1]));
                ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(proxy.connectString())
                        .sessionTimeout(Duration.ofHours(1))
                        .slowAfter(Duration.ofMillis(1))
                        .observer(request -> new LockObserver.Progress() {
                            @Override
                            public void onSlow(Duration waited) {
                                if (request.path().equals("/logged/slow")) {
                                    slow.countDown();
                                }
                            }

                            @Override
                            public void onAbandoned(Duration waited, LockObserver.Ending how) {
                                if (how == LockObserver.Ending.CANCELLED) {
                                    left.countDown();
                                }
                            }
                        })
                        .build()) {
            client.awaitConnected(Duration.ofHours(1)); // or the first request may be slow, too
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
            mutex.participants(); // after the loss, for the engine

            try (ZooKeeperClient other = ZooKeeperClient.builder()
                    .connectString(arguments[0])
                    .ownerLabel("their process")
                    .build()) {
                Lease theirs = new InterProcessMutex(other, "/logged/slow").acquire();
                InterProcessMutex ours = new InterProcessMutex(client, "/logged/slow");
                CompletableFuture<Lease> wanted = ours.acquireAsync();
                slow.await();
                ours.participants(); // what was asked before is answered before
                ours.participants();
                wanted.cancel(false);
                left.await(); // the log is told before
                theirs.close();
            }

            CountDownLatch again = new CountDownLatch(1);
            client.addConnectionListener(state -> {
                if (state == ConnectionState.CONNECTED) {
                    again.countDown();
                }
            });
            proxy.cut();
            again.await();
        }
    }
}

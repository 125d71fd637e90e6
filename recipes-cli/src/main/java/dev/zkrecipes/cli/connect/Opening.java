// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.spi.port.Answer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/**
 * One attempt to open a client that a server answers.
 *
 * @param builder makes the client
 * @param servers the connect string, for messages
 * @param limit how long to try
 */
record Opening(ZooKeeperClientBuilder builder, String servers, Duration limit) {

    /**
     * Opens the client and waits until a server has answered it.
     *
     * @return the connected client; close it when done
     * @throws LockConnectionException if no server answered in time
     * @throws LockAccessException if ZooKeeper does not accept the credentials
     * @throws InterruptedException if the thread is interrupted meanwhile; the client is closed
     */
    ZooKeeperClient client() throws InterruptedException {
        ZooKeeperClient client = builder.build();
        boolean connected = false;
        try {
            if (!client.awaitConnected(limit)) {
                throw notConnected(client);
            }
            requireAnAnswer(client);
            connected = true;
            return client;
        } finally {
            if (!connected) {
                // A server that accepts connections but never answers delays the close. Nobody has to wait for it,
                // because the client has nothing to release.
                Thread closer = new Thread(client::close, "closes a client that was never connected");
                closer.setDaemon(true);
                closer.start();
            }
        }
    }

    /**
     * Sends a read and waits for its answer. A server that is stuck, or cut off from its ensemble, may give a session
     * and then answer nothing. Without this check zklock would wait for its lock for ever, and nothing would say why.
     *
     * <p>A server that refuses the credentials closes the connection after its answer, and that answer may be lost with
     * the connection. So a read that ends with the loss of its connection is sent again, as long as there is time.
     */
    private void requireAnAnswer(ZooKeeperClient client) throws InterruptedException {
        ZooKeeper zk = client.zooKeeper().orElse(null);
        if (zk == null) {
            return; // the connection is lost again, which the next request reports
        }
        BlockingQueue<Integer> answers = new ArrayBlockingQueue<>(1);
        long millis = Math.min(limit.toMillis(), zk.getSessionTimeout() / 3);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        KeeperException.Code last = null;
        do {
            zk.exists("/", false, (code, path, context, stat) -> answers.add(code), null);
            Integer answer = answers.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (answer == null) {
                break;
            }
            last = Answer.codeOf(answer);
        } while (last == KeeperException.Code.CONNECTIONLOSS);
        if (last == null) {
            throw new LockConnectionException(
                    "a server of " + servers + " gave a session and answered nothing for " + millis / 1e3
                            + " s: it is stuck, or cut off from its ensemble; see its log, or name another server");
        }
        if (last == KeeperException.Code.AUTHFAILED) {
            throw ConnectOptions.refused();
        }
    }

    /** The error for a client that did not connect in time, with the reason if the client has found it out. */
    private LockException notConnected(ZooKeeperClient client) {
        Optional<LockException> trouble = client.connectionTrouble();
        if (trouble.isPresent() && trouble.get() instanceof LockAccessException refused) {
            return refused;
        }
        String found = trouble.map(LockException::getMessage)
                .orElse("check that the servers run and that the address, the port and the TLS settings are right;"
                        + " zklock doctor asks each of them");
        return new LockConnectionException("no server of " + servers + " answered within " + limit.toMillis() / 1e3
                + " s" + (limit.equals(ConnectOptions.CONNECT_LIMIT) ? "" : ", the time of -w") + ": " + found);
    }
}

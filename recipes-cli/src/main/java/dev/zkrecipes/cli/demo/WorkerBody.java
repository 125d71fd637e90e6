// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.ZooKeeperClient;
import java.io.IOException;
import java.nio.file.Path;

/** What a worker process does between BEGIN and STOP. */
interface WorkerBody {
    /**
     * Works until told to stop.
     *
     * @throws InterruptedException if told to stop while it waits
     * @throws IOException if the shared files cannot be read or written
     */
    void run(ZooKeeperClient client, String lockPath, Path folder, Orders orders, Reporter reporter)
            throws InterruptedException, IOException;
}

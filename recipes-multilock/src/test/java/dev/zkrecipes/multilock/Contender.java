// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A process that repeatedly locks some of its paths together, and each time adds one to the counter of
 * every path that it holds: a file that only the lock protects.
 */
final class Contender {
    private final Path counters;
    private long lastToken;

    private Contender(Path counters) {
        this.counters = counters;
    }

    /** Arguments: connect string, folder of the counters, rounds, how many paths to take at once, seed, the paths. */
    public static void main(String[] args) throws Exception {
        Contender contender = new Contender(Path.of(args[1]));
        int rounds = Integer.parseInt(args[2]);
        int together = Integer.parseInt(args[3]);
        Random random = new Random(Long.parseLong(args[4]));
        List<String> paths = new ArrayList<>(List.of(args).subList(5, args.length));
        Map<List<String>, InterProcessMultiLock> locks = new HashMap<>();
        try (ZooKeeperClient client = ZooKeeperClient.connect(args[0])) {
            for (int round = 0; round < rounds; round++) {
                if (together < paths.size()) {
                    Collections.shuffle(paths, random);
                }
                List<String> chosen = List.copyOf(paths.subList(0, together));
                contender.count(locks.computeIfAbsent(chosen, key -> new InterProcessMultiLock(client, key)), chosen);
            }
        }
    }

    private void count(InterProcessMultiLock lock, List<String> paths) throws InterruptedException, IOException {
        try (Lease lease = lock.acquire()) {
            if (lease.fencingToken() <= lastToken) {
                throw new IllegalStateException("token " + lease.fencingToken() + " after " + lastToken);
            }
            lastToken = lease.fencingToken();
            for (String path : paths) {
                Path counter = counters.resolve(path.substring(path.lastIndexOf('/') + 1));
                Files.writeString(counter, String.valueOf(Long.parseLong(Files.readString(counter)) + 1));
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Everybody takes one to three of five permits. */
final class SemaphoreShow implements Show {
    static final int LIMIT = 5;
    private static final int MOST = 3;

    @Override
    public String intro() {
        return "take 1 to " + MOST + " of " + LIMIT + " permits, stay for a moment, give them back";
    }

    @Override
    public String rule() {
        return "no more than " + LIMIT + " permits";
    }

    @Override
    public boolean mayBeTogether(Collection<String> shares) {
        return size(shares) <= LIMIT;
    }

    @Override
    public long size(Collection<String> shares) {
        return shares.stream().mapToLong(Long::parseLong).sum();
    }

    @Override
    public void prepare(Path folder) {}

    @Override
    public List<Check> evidence(Path folder) {
        return List.of();
    }

    @Override
    public Player player(ZooKeeperClient client, String lockPath, Path folder) {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, lockPath, LIMIT);
        return alone -> {
            int permits = alone ? LIMIT : ThreadLocalRandom.current().nextInt(1, MOST + 1);
            return new Act(
                    semaphore.permits(permits),
                    String.valueOf(permits),
                    (lease, presence) -> TimeUnit.MILLISECONDS.sleep(
                            ThreadLocalRandom.current().nextInt(2, 15)));
        };
    }
}

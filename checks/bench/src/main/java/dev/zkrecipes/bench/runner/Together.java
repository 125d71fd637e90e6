// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import dev.zkrecipes.bench.contender.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs many slow calls at the same time. To close one client of ZooKeeper, for example, takes a tenth of a second. */
public final class Together {
    private static final int AT_A_TIME = 32;

    private Together() {}

    /**
     * Runs all calls, and returns their results in order when all have ended. Throws the first failure in that order.
     */
    public static <T> List<T> call(List<? extends Callable<T>> calls) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(AT_A_TIME);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> result : pool.invokeAll(calls)) {
                results.add(result.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            pool.shutdown();
        }
    }

    /** Closes all clients, many of them at the same time. */
    public static void close(List<LockClient> clients) throws Exception {
        List<Callable<Boolean>> calls = new ArrayList<>();
        for (LockClient client : clients) {
            calls.add(() -> {
                client.close();
                return true;
            });
        }
        var unused = call(calls);
    }
}

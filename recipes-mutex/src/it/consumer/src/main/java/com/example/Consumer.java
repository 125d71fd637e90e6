// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package com.example;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;

/** Links and runs against nothing but the mutex and what it brings. There is no server: the lock has to say so. */
final class Consumer {
    private Consumer() {}

    public static void main(String[] args) {
        try (ZooKeeperClient client = ZooKeeperClient.connect("127.0.0.1:1")) {
            new InterProcessMutex(client, "/locks/orders").tryAcquire();
        } catch (LockConnectionException e) {
            System.out.println("consumer was told: " + e.getMessage());
        }
    }
}

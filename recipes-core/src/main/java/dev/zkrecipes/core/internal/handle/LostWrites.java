// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.EngineScheduler;

/**
 * The large writes that were under way when connections broke. Writes are measured before they are sent, but that does
 * not tell what a server makes of them: its limit may be lower than the client's, and the client prepends a chroot to
 * each path. So after two connections in a row were lost with large writes, none as large as these is sent for a
 * minute. It is sent once after that. If it is lost again, none is sent for twice the time, and so on.
 *
 * <p>A write is large if it takes more than half of the client's limit or of the default limit, whichever is lower. An
 * answered write clears those that are not larger than it. Losses that are far apart do not count together. Confined to
 * the engine thread.
 */
final class LostWrites {
    private final EngineScheduler scheduler;
    private final int large; // bytes that no small write exceeds
    private int count; // connections that broke in a row
    private long lastConnection; // the latest of them: each connection counts once
    private long lostAt; // the time of that
    private int cleared; // size in bytes of the largest write that was answered since the first of them
    private int smallest = Integer.MAX_VALUE; // size in bytes of the smallest lost write that was not cleared
    private int largest; // size in bytes of the largest lost write

    LostWrites(EngineScheduler scheduler, int limit) {
        this.scheduler = scheduler;
        this.large = Math.min(limit, PacketLimit.DEFAULT) / 2;
    }

    /** Whether a write of this size is not to be sent now. */
    boolean isSuspect(int size) {
        return count >= LostReads.LOSSES && size >= smallest && sinceLost() < nanosOfDoubt();
    }

    private long sinceLost() {
        return scheduler.nanoTime() - lostAt;
    }

    private long nanosOfDoubt() {
        return LostReads.nanosOfDoubt(Math.max(0, count - LostReads.LOSSES));
    }

    void onLost(int size, long connection) {
        if (sinceLost() > 2 * nanosOfDoubt()) {
            forget();
        }
        if (size > Math.max(large, cleared)) {
            count += lastConnection == connection ? 0 : 1;
            lastConnection = connection;
            lostAt = scheduler.nanoTime();
            smallest = Math.min(smallest, size);
            largest = Math.max(largest, size);
        }
    }

    void onAnswered(int size) {
        if (size >= largest) {
            forget();
        } else if (size > cleared) {
            cleared = size;
            smallest = Math.max(smallest, size + 1);
        }
    }

    private void forget() {
        count = 0;
        cleared = 0;
        smallest = Integer.MAX_VALUE;
        largest = 0;
    }
}

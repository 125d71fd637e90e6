// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many readers and writers: no request holds beside a writer, all are served, and readers do hold together. */
@Tag("soak")
@Timeout(600)
@WithZooKeeper
class ReadWriteLoadIT {
    private static final String PATH = "/load/catalogue";
    private static final int CLIENTS = 8;
    private static final int OPERATIONS = 100;

    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();
    private final AtomicInteger mostReaders = new AtomicInteger();
    private long record; // not volatile, not atomic: two halves of it must always agree
    private long copy;
    private long written;
    private long lastWriter;

    @Test
    void randomReadsWritesAndDowngrades_keepTheRule(EmbeddedZooKeeper server) throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        AtomicInteger writes = new AtomicInteger();
        CyclicBarrier begin = new CyclicBarrier(CLIENTS);
        try (TestClients clients = TestClients.of(server);
                Workers workers = new Workers()) {
            for (int c = 0; c < CLIENTS; c++) {
                InterProcessReadWriteLock lock = new InterProcessReadWriteLock(clients.open(), PATH);
                Random random = new Random(seed + c);
                workers.start("client-" + c, () -> {
                    begin.await(120, TimeUnit.SECONDS);
                    for (int i = 0; i < OPERATIONS; i++) {
                        switch (random.nextInt(4)) {
                            case 0 -> {
                                writes.incrementAndGet();
                                write(lock);
                            }
                            case 1 -> {
                                writes.incrementAndGet();
                                writeThenRead(lock);
                            }
                            default -> read(lock);
                        }
                    }
                });
            }
            workers.join(Duration.ofSeconds(90));
        }
        assertThat(written).isEqualTo(writes.get());
        assertThat(mostReaders).hasValueGreaterThan(1);
        await().until(() -> server.children(PATH).isEmpty());
        assertThat(server.watchCount()).isZero();
    }

    private void write(InterProcessReadWriteLock lock) throws InterruptedException {
        try (Lease lease = lock.writeLock().acquire()) {
            changeRecord(lease);
        }
    }

    private void changeRecord(Lease lease) {
        assertThat(writers.incrementAndGet()).isEqualTo(1);
        assertThat(readers).hasValue(0);
        assertThat(lease.fencingToken()).isGreaterThan(lastWriter);
        lastWriter = lease.fencingToken();
        written++;
        record = written;
        LockSupport.parkNanos(1_000);
        copy = written;
        writers.decrementAndGet();
    }

    private void read(InterProcessReadWriteLock lock) throws InterruptedException {
        try (Lease lease = lock.readLock().acquire()) {
            assertThat(lease.fencingToken()).isGreaterThan(lastWriter);
            readRecord();
        }
    }

    private void readRecord() throws InterruptedException {
        mostReaders.accumulateAndGet(readers.incrementAndGet(), Math::max);
        assertThat(writers).hasValue(0);
        assertThat(record).isEqualTo(copy);
        TimeUnit.MILLISECONDS.sleep(1); // so that readers meet
        assertThat(record).isEqualTo(copy);
        readers.decrementAndGet();
    }

    /** Reads its own record: no other writer has written in between. */
    private void writeThenRead(InterProcessReadWriteLock lock) throws InterruptedException {
        Lease writing = lock.writeLock().acquire();
        changeRecord(writing);
        long mine = record;
        try (Lease reading = lock.readLock().acquire()) {
            long token = writing.fencingToken();
            writing.close();
            readRecord();
            assertThat(record).isEqualTo(mine);
            assertThat(reading.fencingToken()).isEqualTo(token);
        }
    }
}

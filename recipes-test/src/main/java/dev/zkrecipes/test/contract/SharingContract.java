// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Readers share the lock, a writer holds it alone, and both wait in one queue, so that neither side starves. */
public abstract class SharingContract extends TwoReadWriteLocks {
    /** Creates the suite; the test of a lock extends it. */
    protected SharingContract() {}

    @Test
    void readers_holdTogether_andAWriterWaitsForTheLast() throws InterruptedException {
        Lease one = own.read().acquire();
        assertThat(others.write().tryAcquire()).isEmpty();
        Lease two = granted(others.read().tryAcquire(), "a reader beside another");
        CompletableFuture<Lease> writer = others.write().acquireAsync();
        awaitNodes(3);
        two.close();
        assertThat(own.read().participants()).extracting(Participant::holding).containsExactly(true, false);
        assertThat(writer).isNotDone();
        one.close();
        Soon.get(writer).close();
        awaitNodes(0);
    }

    @Test
    void writer_holdsAlone() throws InterruptedException {
        Lease writing = own.write().acquire();
        assertThat(others.write().tryAcquire()).isEmpty();
        assertThat(others.read().tryAcquire()).isEmpty();
        CompletableFuture<Lease> reader = others.read().acquireAsync();
        CompletableFuture<Lease> another = others.read().acquireAsync();
        awaitNodes(3);
        assertThat(reader).isNotDone();
        writing.close();
        Lease reading = Soon.get(reader);
        Soon.get(another).close();
        reading.close();
        awaitNodes(0);
    }

    @Test
    void readerBehindAWaitingWriter_doesNotPassIt() throws InterruptedException {
        Lease reading = own.read().acquire();
        CompletableFuture<Lease> writer = others.write().acquireAsync();
        awaitNodes(2);
        CompletableFuture<Lease> reader = others.read().acquireAsync();
        awaitNodes(3);
        assertThat(others.read().tryAcquire()).isEmpty();
        assertThat(own.read().participants()).extracting(Participant::holding).containsExactly(true, false, false);
        assertThat(reader).isNotDone();
        reading.close();
        Lease writing = Soon.get(writer);
        assertThat(own.write().participants()).extracting(Participant::holding).containsExactly(true, false);
        assertThat(reader).isNotDone();
        writing.close();
        Soon.get(reader).close();
    }

    @Test
    void writerBehindAWaitingReader_doesNotPassIt() throws InterruptedException {
        Lease writing = own.write().acquire();
        CompletableFuture<Lease> reader = others.read().acquireAsync();
        awaitNodes(2);
        CompletableFuture<Lease> writer = own.write().acquireAsync();
        awaitNodes(3);
        writing.close();
        Lease reading = Soon.get(reader);
        assertThat(own.write().participants()).extracting(Participant::holding).containsExactly(true, false);
        assertThat(writer).isNotDone();
        reading.close();
        Soon.get(writer).close();
        awaitNodes(0);
    }

    @Test
    void leavingWriter_letsTheReadersBehindItIn() throws InterruptedException {
        Lease reading = own.read().acquire();
        CompletableFuture<Lease> writer = others.write().acquireAsync();
        awaitNodes(2);
        List<CompletableFuture<Lease>> readers =
                List.of(own.read().acquireAsync(), others.read().acquireAsync());
        awaitNodes(4);
        writer.cancel(true);
        for (CompletableFuture<Lease> reader : readers) {
            Soon.get(reader).close();
        }
        reading.close();
        awaitNodes(0);
    }

    @Test
    @Tag("H29")
    void timedOutReader_leavesTheOtherReadersOfItsSessionAwake() throws InterruptedException {
        Lease writing = own.write().acquire();
        CompletableFuture<Lease> patient = others.read().acquireAsync();
        awaitNodes(2);
        assertThat(TimedTry.on(others.read())).isEmpty();
        awaitNodes(2);
        writing.close();
        Soon.get(patient).close();
    }

    @Test
    void token_isGreaterThanThatOfEveryEarlierConflictingHolder() throws InterruptedException {
        Lease first = own.write().acquire();
        long firstWriter = first.fencingToken();
        first.close();
        Lease one = own.read().acquire();
        Lease two = others.read().acquire();
        assertThat(List.of(one.fencingToken(), two.fencingToken()))
                .allMatch(token -> token > firstWriter)
                .doesNotHaveDuplicates();
        long readers = Math.max(one.fencingToken(), two.fencingToken());
        one.close();
        two.close();
        server.deleteNode(path); // sequence numbers start again, but tokens keep rising
        Lease second = others.write().acquire();
        assertThat(second.fencingToken()).isGreaterThan(readers);
        second.close();
    }
}

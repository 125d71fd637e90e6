// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Writes down what it is told, and whether two calls ever overlapped. A call blocks while its latch is closed. */
final class Diary implements LeaderListener {
    final List<String> lines = new CopyOnWriteArrayList<>();
    final List<Term> terms = new CopyOnWriteArrayList<>();
    volatile CountDownLatch begin = new CountDownLatch(0);
    volatile CountDownLatch end = new CountDownLatch(0);
    private final AtomicInteger inside = new AtomicInteger();
    volatile boolean hasOverlapped;
    volatile Thread teller = Thread.currentThread(); // the last thread that called it

    @Override
    public void termBegan(Term term) {
        terms.add(term);
        note("began " + terms.size(), begin);
    }

    @Override
    public void termEnded(Term term) {
        note("ended " + (terms.indexOf(term) + 1) + " " + term.state(), end);
    }

    @Override
    public void withdrawn(LockException why) {
        note("withdrawn " + why.getClass().getSimpleName(), begin);
    }

    private void note(String line, CountDownLatch latch) {
        hasOverlapped |= inside.incrementAndGet() > 1;
        teller = Thread.currentThread();
        lines.add(line);
        try {
            assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            inside.decrementAndGet();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One direction of a proxied connection, as a line of packets. One thread appends packets as they arrive; another
 * removes them when they are due and nothing stops the line. So a delay shifts packets in time, but does not spread
 * them.
 */
final class ProxyStream {
    private static final Logger LOG = LoggerFactory.getLogger(ProxyStream.class);
    /** How long to wait for a packet to pass: long enough for any packet, but not forever if the peer does not read. */
    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final boolean requests;
    private final ProxyControls controls;
    private final ProxyConnection connection;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock")
    private final Deque<Frame> line = new ArrayDeque<>();

    @GuardedBy("lock")
    private boolean closed;

    /** Whether a packet has passed everything that can stop it, and is being forwarded. */
    @GuardedBy("lock")
    private boolean passing;

    ProxyStream(boolean requests, ProxyControls controls, ProxyConnection connection) {
        this.requests = requests;
        this.controls = controls;
        this.connection = connection;
    }

    /**
     * Appends everything that arrives, up to and including the end of the stream, which goes through the line like a
     * packet.
     */
    void fill(InputStream from) {
        DataInputStream in = new DataInputStream(new BufferedInputStream(from));
        Frame frame;
        do {
            frame = nextFrom(in);
            lock.lock();
            try {
                line.add(frame);
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        } while (!frame.isEnd());
    }

    /**
     * Reads the next packet. A reset of the connection counts as the end of the stream and goes through the line like
     * one, because the side behind a pause must not notice a reset either.
     */
    private Frame nextFrom(DataInputStream in) {
        try {
            return controls.isRaw ? Frame.readAny(in) : Frame.read(in);
        } catch (IOException e) {
            LOG.debug("a stream broke off", e);
            return Frame.end();
        }
    }

    /** Forwards packets until the end of the stream has passed or the stream is closed. */
    void drain(OutputStream to) throws IOException, InterruptedException {
        boolean first = true;
        for (Frame frame = take(); frame != null && !frame.isEnd(); frame = take()) {
            List<Fault> faults = connection.faultsOf(requests, frame, first);
            for (Fault fault : faults) {
                if (fault.kind().isHold() && fault.begin()) {
                    stand(fault);
                }
            }
            if (isClosed()) {
                faults.forEach(fault -> fault.giveUp("the connection ended before"));
                return;
            }
            List<Fault> losses = faults.stream()
                    .filter(fault -> !fault.kind().isHold() && fault.begin())
                    .toList();
            if (!losses.isEmpty()) {
                connection.lose(losses);
                return;
            }
            forward(frame, first, to);
            first = false;
            passed();
        }
    }

    private void forward(Frame frame, boolean first, OutputStream to) throws IOException {
        if (requests && !controls.isRaw) {
            controls.requestsSeen.add(frame.requestType(first));
        }
        to.write(frame.bytes().array());
        to.flush();
    }

    /** Waits until this direction is not paused, or the stream is closed. */
    void awaitOpen() throws InterruptedException {
        lock.lock();
        try {
            while (!closed && controls.isPaused(requests)) {
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until the first packet is due and nothing stops it, and returns it. Returns null if the stream is closed.
     */
    private @Nullable Frame take() throws InterruptedException {
        lock.lock();
        try {
            while (!closed) {
                Frame next = line.peek();
                if (next == null || controls.isPaused(requests)) {
                    changed.await();
                    continue;
                }
                long wait = next.arrivedNanos() + controls.latencyNanos - System.nanoTime();
                if (wait <= 0) {
                    passing = true;
                    return line.remove();
                }
                changed.awaitNanos(wait);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private void passed() {
        lock.lock();
        try {
            passing = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Stops in front of a packet until it is released and no pause of this direction is in effect. */
    private void stand(Fault hold) throws InterruptedException {
        passed();
        hold.fire();
        lock.lock();
        try {
            while (!closed && (!hold.isReleased() || controls.isPaused(requests))) {
                changed.await();
            }
            passing = true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes this stream read the controls again. Returns when no packet is being forwarded that the controls would have
     * stopped, or after 1 s.
     */
    void obey() {
        lock.lock();
        try {
            changed.signalAll();
            long left = SETTLE_NANOS;
            while (passing && !closed && controls.isPaused(requests) && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            line.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import com.google.common.base.Utf8;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of nodes that were being read when connections broke, and whether they fit a packet. A part that was lost
 * with two connections, and was not read since, is suspect: it is examined before it is read again.
 *
 * <p>The metadata of a node give the exact length of the data, but only the number of children. The names of children
 * are assumed to be a quarter longer on average than in the latest long list of the path that this session has read.
 * Without such a list they are assumed to have the usual maximum length.
 *
 * <p>That may be wrong. If the next connection breaks, too, after a part was found harmless, its names are assumed to
 * have the maximum length, or more, whatever was read before. All lists of one request are then added up. Since that
 * connection may have broken for another reason, this ends after a minute, and after each further mistake only after
 * twice the time. Confined to the engine thread.
 */
final class LostReads {
    private static final Logger log = LoggerFactory.getLogger(LostReads.class);

    /** How many connections may break before a request counts as suspect. */
    static final int LOSSES = 2;

    static final Duration DOUBTED_FOR = Duration.ofMinutes(1);
    private static final int MOST_DOUBLINGS = 6; // of that time: about an hour

    /** An upper bound of the bytes that an answer has besides the data. */
    private static final int AROUND = 256;
    /**
     * The usual maximum of the bytes of a name in a list, including the length field before it: common file systems
     * allow no longer names.
     */
    private static final int LONGEST_NAME = 4 + 255;

    private static final int MOST_NAME_DOUBLINGS = 2;
    private static final int LARGE_LIST = 1000; // number of names, enough to estimate their length on a path

    /** A part of a node that may be too large to be read: the list of its children, or its data. */
    record NodePart(boolean isList, String path) {}

    /** Counts the connections that broke while a part was being read, since the part was last answered. */
    private static final class Losses {
        private int count;
        private long lastConnection; // the latest of them: each connection counts once
        private boolean isCleared; // whether the part was found harmless after the latest of them
        private int mistakes; // how often the part was found harmless and then lost again
        private long mistakenAt; // the time of the latest mistake
        private boolean isReported; // whether the log has named the part as too large
    }

    private final EngineScheduler scheduler;
    private final int limit; // maximum size of a packet, in bytes
    private final RecentlyUsed<NodePart, Losses> lost = new RecentlyUsed<>(); // lost and not answered since
    private final RecentlyUsed<String, Integer> bytesPerName = new RecentlyUsed<>(); // on paths with many children

    LostReads(EngineScheduler scheduler, int limit) {
        this.scheduler = scheduler;
        this.limit = limit;
    }

    /** Returns how long a request stays suspect, after so many earlier mistakes about it. */
    static long nanosOfDoubt(int before) {
        return DOUBTED_FOR.toNanos() << Math.min(before, MOST_DOUBLINGS);
    }

    void onLost(NodePart part, long connection) {
        Losses losses = lost.computeIfAbsent(part, first -> new Losses());
        if (losses.lastConnection != connection) {
            losses.lastConnection = connection;
            losses.count++;
            if (losses.isCleared) {
                losses.isCleared = false;
                losses.mistakes++;
                losses.mistakenAt = scheduler.nanoTime();
            }
        }
    }

    void onAnswered(NodePart part) {
        if (!lost.isEmpty()) { // usually empty, which saves the hash of a record
            lost.remove(part);
        }
    }

    /** Estimates the length of the names on this path from a long list, and adds a quarter for later names. */
    void learn(NodePart part, List<String> names) {
        if (names.size() >= LARGE_LIST) {
            long bytes = names.stream()
                    .mapToLong(name -> 4 + Utf8.encodedLength(name))
                    .sum();
            bytesPerName.put(part.path(), Math.toIntExact(bytes / names.size() * 5 / 4));
        }
    }

    boolean isSuspect(NodePart part) {
        Losses losses = lost.isEmpty() ? null : lost.get(part);
        return losses != null && losses.count >= LOSSES;
    }

    private boolean isDoubted(NodePart part) {
        Losses losses = lost.get(part);
        return losses != null
                && losses.mistakes > 0
                && scheduler.nanoTime() - losses.mistakenAt < nanosOfDoubt(losses.mistakes - 1);
    }

    private long bytesPerName(NodePart list) {
        Losses losses = lost.get(list);
        return losses != null && isDoubted(list)
                ? (long) LONGEST_NAME << Math.min(losses.mistakes - 1, MOST_NAME_DOUBLINGS)
                : bytesPerName.getOrDefault(list.path(), LONGEST_NAME);
    }

    /** Adds up the sizes of the suspect parts of one request, one after another. */
    final class Examination {
        private final List<NodePart> parts;
        private final boolean addsLists; // if not, only the largest list counts: most are far shorter than assumed
        private int examined; // how many of the parts were added
        private long lists; // size in bytes
        private long data; // size in bytes
        private @Nullable Examined largest;

        Examination(List<NodePart> parts) {
            this.parts = parts;
            this.addsLists = parts.stream().anyMatch(LostReads.this::isDoubted);
        }

        boolean hasNext() {
            return examined < parts.size();
        }

        NodePart next() {
            return parts.get(examined);
        }

        /**
         * Adds the next part, and returns whether the answer may not fit a packet. If it may not, reports the largest
         * part. If that is too large alone, it is the only one that remains suspect.
         */
        boolean isTooLargeWith(Stat stat) {
            NodePart part = next();
            examined++;
            long bytes = part.isList() ? stat.getNumChildren() * bytesPerName(part) : stat.getDataLength();
            if (largest == null || bytes > largest.bytes) {
                largest = new Examined(part, stat, bytes);
            }
            if (!part.isList()) {
                data += bytes;
            } else {
                lists = addsLists ? lists + bytes : Math.max(lists, bytes);
            }
            boolean isTooLarge = isTooLarge(lists + data);
            if (isTooLarge) {
                report(largest);
            }
            if (isTooLarge(largest.bytes)) {
                parts.subList(0, examined - 1).forEach(LostReads.this::clear);
            }
            return isTooLarge;
        }

        private boolean isTooLarge(long bytes) {
            return bytes + AROUND > limit;
        }

        /** All parts were found harmless. They are read once more, and examined again if they are lost with that. */
        void end() {
            parts.forEach(LostReads.this::clear);
        }
    }

    private record Examined(NodePart part, Stat stat, long bytes) {}

    /** The part was found harmless: a single loss makes it suspect again. */
    private void clear(NodePart part) {
        Losses losses = lost.get(part);
        if (losses != null) {
            losses.count = LOSSES - 1;
            losses.isCleared = true;
        }
    }

    /**
     * Logs once which part is too large. The error of a request for several paths does not say that: it names the first
     * path, whichever path is too large.
     */
    private void report(Examined large) {
        NodePart part = large.part;
        Losses losses = lost.get(part);
        if (losses != null && !losses.isReported) {
            losses.isReported = true;
            log.warn(
                    "{} has {}: reading that breaks the connection (jute.maxbuffer is {} here), so locks that need it"
                            + " fail from now on. Remove what does not belong there, or raise jute.maxbuffer on all"
                            + " servers and clients.",
                    Printable.of(part.path()),
                    part.isList()
                            ? large.stat.getNumChildren() + " children"
                            : large.stat.getDataLength() + " bytes of data",
                    limit);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * One packet of ZooKeeper's protocol: its length in four bytes, and then its content. The meaning of the content
 * depends on the direction and on whether the packet is the first of its stream; the packet itself does not tell.
 *
 * @param bytes the whole packet, including its length; empty for the end of the stream
 * @param arrivedNanos when the packet arrived, by {@link System#nanoTime()}
 */
record Frame(ByteBuffer bytes, long arrivedNanos) {
    private static final int LENGTH_BYTES = 4;
    private static final int TYPE_OFFSET = LENGTH_BYTES + Integer.BYTES;
    // The fields of a connect request: protocol version (int), last zxid seen (long), time-out (int), session (long).
    private static final int SESSION_OFFSET = LENGTH_BYTES + Integer.BYTES + Long.BYTES + Integer.BYTES;
    private static final int MAX_LENGTH = 64 * 1024 * 1024;

    /** Reads the next packet, or the end of the stream. */
    static Frame read(DataInputStream in) throws IOException {
        int length;
        try {
            length = in.readInt();
        } catch (EOFException e) {
            return end();
        }
        if (length < 0 || length > MAX_LENGTH) {
            throw new IOException(
                    "a packet of " + length + " bytes is not ZooKeeper's protocol (four-letter commands and"
                            + " TLS do not pass through this proxy)");
        }
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES + length).putInt(length);
        in.readFully(bytes.array(), LENGTH_BYTES, length);
        return new Frame(bytes.clear(), System.nanoTime());
    }

    /** Reads the bytes that have arrived, of any protocol, or the end of the stream. */
    static Frame readAny(InputStream in) throws IOException {
        byte[] buffer = new byte[16 * 1024];
        int count = in.read(buffer);
        return count < 0 ? end() : new Frame(ByteBuffer.wrap(Arrays.copyOf(buffer, count)), System.nanoTime());
    }

    /** Returns a frame that represents the end of a stream, reached now. */
    static Frame end() {
        return new Frame(ByteBuffer.allocate(0), System.nanoTime());
    }

    boolean isEnd() {
        return bytes.capacity() == 0;
    }

    /** Returns the number of the request. Not valid for the first packet of a stream, which has none. */
    int xid() {
        return intAt(LENGTH_BYTES);
    }

    /** Returns the type of a packet from a client. */
    RequestType requestType(boolean first) {
        if (first) {
            return RequestType.ofConnect(
                    bytes.capacity() < SESSION_OFFSET + Long.BYTES ? 0 : bytes.getLong(SESSION_OFFSET));
        }
        return RequestType.ofOpCode(intAt(TYPE_OFFSET));
    }

    private int intAt(int offset) {
        return bytes.capacity() < offset + Integer.BYTES ? 0 : bytes.getInt(offset);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Utf8;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.jute.BinaryOutputArchive;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * The maximum size of a packet. A client drops the connection if an answer exceeds its limit, and a server drops it if
 * a request does. Each side has its own {@code jute.maxbuffer}; operators are meant to set all of them to the same
 * value. Requests are measured before they are sent, because a request that is too large breaks the connection, and all
 * requests in flight are lost with it.
 */
public final class PacketLimit {
    public static final int DEFAULT = ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT;

    private static final int REQUEST_HEADER = 8; // the number and the type of the request

    /**
     * The size in bytes of the header before each operation of a {@code multi} and after the last one: type, end mark
     * and error code.
     */
    private static final int OPERATION_HEADER = 9;

    /** The size in bytes of a {@code multi} without operations. */
    public static final int AROUND_OPERATIONS = REQUEST_HEADER + OPERATION_HEADER;

    private PacketLimit() {}

    /** Returns the packet limit of the client behind these operations, in bytes. */
    public static int of(ZooKeeperOperations operations) {
        return operations
                .handle()
                .map(handle -> handle.getClientConfig().getInt(ZKClientConfig.JUTE_MAXBUFFER, DEFAULT))
                .orElse(DEFAULT);
    }

    /**
     * Returns the size in bytes of one create in a {@code multi}. {@code rights} is the size of the entries of its ACL.
     */
    public static long sizeOfCreate(String path, byte[] data, long rights) {
        return OPERATION_HEADER + 4L * Integer.BYTES + Utf8.encodedLength(path) + data.length + rights;
    }

    /**
     * Returns the size in bytes of a {@code multi} on the wire, without the chroot that the client prepends to each
     * path.
     */
    public static int sizeOf(List<Op> operations) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            new MultiOperationRecord(operations).serialize(BinaryOutputArchive.getArchive(bytes), "request");
        } catch (IOException e) {
            throw new UncheckedIOException("in memory", e);
        }
        return REQUEST_HEADER + bytes.size();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.jute.BinaryOutputArchive;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/**
 * How large a packet may be. A client drops the connection on which a larger answer comes, a server the one on which a
 * larger request does. Each has a {@code jute.maxbuffer} of its own; they are meant to be set to the same.
 */
public final class PacketLimit {
    /** The default limit of servers and clients. */
    public static final int DEFAULT = ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT;

    public static final int REQUEST_HEADER = 8;

    /** Of one operation in a {@code multi}, and of an entry of an ACL, what is not text or data; amply. */
    private static final int AROUND_OPERATION = 64;

    private static final int AROUND_ENTRY = 16;
    private static final int MOST_BYTES_PER_CHARACTER = 3;

    private PacketLimit() {}

    /** The client's limit on a handle, in bytes. */
    public static int of(ZooKeeperOperations operations) {
        return operations
                .handle()
                .map(handle -> handle.getClientConfig().getInt(ZKClientConfig.JUTE_MAXBUFFER, DEFAULT))
                .orElse(DEFAULT);
    }

    /** No less than what one create takes on the wire, computed from lengths alone. */
    public static long mostOfCreate(String path, byte[] data, List<ACL> acl) {
        long size = AROUND_OPERATION + data.length + (long) MOST_BYTES_PER_CHARACTER * path.length();
        for (int i = 0; i < acl.size(); i++) {
            Id id = acl.get(i).getId();
            size += AROUND_ENTRY
                    + (long) MOST_BYTES_PER_CHARACTER
                            * (id.getScheme().length() + id.getId().length());
        }
        return size;
    }

    /** The bytes of a {@code multi} on the wire; a chroot, which the client puts in front of each path, apart. */
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

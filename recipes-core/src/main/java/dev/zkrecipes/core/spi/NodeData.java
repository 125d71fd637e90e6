// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.List;
import java.util.Objects;

/**
 * What the data of a lock node say, for tools that show locks. Data that are not of this library's format say nothing:
 * the owner is unknown then, or short text that somebody put there.
 *
 * @param owner the owner label, or other short text, fit to print; {@code "unknown"} if there is none
 * @param requests the requests to give the lock back, the oldest first
 * @param holds the paths of lock nodes that the thread held which waits with this node, as far as it has named them
 */
public record NodeData(String owner, List<RevocationRequest> requests, List<String> holds) {
    /** What a node says that may not be read. */
    public static final NodeData UNREAD = new NodeData(OwnerLabel.UNKNOWN, List.of(), List.of());

    /**
     * Reads what a node has.
     *
     * @param content the data, and the version that they have
     * @return what they say
     */
    public static NodeData in(Content content) {
        Objects.requireNonNull(content, "content");
        return new NodeData(
                OwnerLabel.decode(content.data()),
                RevocationMarks.in(content),
                OwnerLabel.holds(content.data()).stream().map(Printable::of).toList());
    }

    /**
     * The lines of data in the format of this library, such as those of a path that has a rule.
     *
     * @param data the data
     * @return the lines, of which the first names the format; none if the data are of another format
     */
    public static List<String> lines(byte[] data) {
        return OwnerLabel.lines(Objects.requireNonNull(data, "data"));
    }
}

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
 * The contents of a lock node's data, for tools that show locks. Data in a format other than this library's have no
 * contents: the owner is then unknown, or is short text that somebody stored there.
 *
 * @param owner the owner label, or other short text, fit to print; {@code "unknown"} if there is none
 * @param requests the requests to give the lock back, the oldest first
 * @param holds the paths of the lock nodes held by the thread that waits with this node, as far as the node names them
 */
public record NodeData(String owner, List<RevocationRequest> requests, List<String> holds) {
    /** The contents of a node that may not be read. */
    public static final NodeData UNREAD = new NodeData(OwnerLabel.UNKNOWN, List.of(), List.of());

    /**
     * Parses the data of a node.
     *
     * @param content the data and their version
     * @return the contents
     */
    public static NodeData in(Content content) {
        Objects.requireNonNull(content, "content");
        return new NodeData(
                OwnerLabel.decode(content.data()),
                RevocationMarks.in(content),
                OwnerLabel.holds(content.data()).stream().map(Printable::of).toList());
    }

    /**
     * Returns the lines of data in the format of this library, such as those of a path that has a rule.
     *
     * @param data the data
     * @return the lines, of which the first names the format; none if the data have another format
     */
    public static List<String> lines(byte[] data) {
        return OwnerLabel.lines(Objects.requireNonNull(data, "data"));
    }
}

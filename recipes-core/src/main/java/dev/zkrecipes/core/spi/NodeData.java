// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.List;

/**
 * What the data of a lock node say, for tools that show it.
 *
 * @param owner the owner label, or other short text, fit to print; {@code "unknown"} if there is none
 * @param requests the requests to give the lock back, the oldest first
 */
public record NodeData(String owner, List<RevocationRequest> requests) {

    /**
     * Reads the data of a node.
     *
     * @param content what is there
     * @return what it says
     */
    public static NodeData of(Content content) {
        return new NodeData(OwnerLabel.decode(content.data()), RevocationMarks.in(content));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Optional;

/** A participant, and what its node was seen to hold; nothing if the node may not be read, or was not. */
public record SeenParticipant(Participant participant, Optional<Content> content) {}

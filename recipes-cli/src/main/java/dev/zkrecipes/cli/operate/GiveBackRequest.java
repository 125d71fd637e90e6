// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.time.Duration;
import java.util.Optional;

/**
 * Somebody's request to give a lock back, as it stands in the data of a node.
 *
 * @param requester who asks; {@link NodeData#UNKNOWN} if the request does not say so
 * @param grace after what time the requester may break the lease; empty if it never does
 */
record GiveBackRequest(String requester, Optional<Duration> grace) {}

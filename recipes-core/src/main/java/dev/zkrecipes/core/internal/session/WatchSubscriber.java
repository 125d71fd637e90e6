// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.Answer;

/** Waits for the end of a node. */
public interface WatchSubscriber {
    /** The node is gone; the subscription has ended. */
    void onGone(String path);

    /** The node cannot be watched; the subscription has ended. */
    void onRefused(String path, Answer<?> answer);
}

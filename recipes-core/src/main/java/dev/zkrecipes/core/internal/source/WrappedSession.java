// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The only session of a client that wraps a handle of the application. No session follows it, so once it has ended
 * every request fails with a message that says what to do. Confined to the engine thread.
 */
public final class WrappedSession implements SessionSource {
    private final Supplier<Session> factory;
    private @Nullable Session session; // null before the client has started

    public WrappedSession(Supplier<Session> factory) {
        this.factory = factory;
    }

    @Override
    public void start() {
        session = factory.get();
    }

    @Override
    public void request(User user) {
        Session current = session;
        if (current != null && !current.isEnded()) {
            user.with(current);
        } else if (current != null && current.state() == State.AUTH_FAILED) {
            user.unavailable(ZooKeeperErrors.credentialsRefused("the lock " + user.lockPath()
                    + " cannot be used; close the handle that its client wraps, open a new one and wrap that"));
        } else {
            user.unavailable(new ClientClosedException("the lock " + user.lockPath()
                    + ": the ZooKeeper handle that its client wraps has ended, or no server answered it for so long that it was"
                    + " given up (" + (current == null ? "never started" : current.state())
                    + "); close it, open a new handle and wrap that, or let the client open its own sessions"));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What one session knows of the data of a path that decisions are based on. Confined to the engine thread. */
final class RuleSight implements WatchRegistry.Subscriber {
    private final Session session;
    private final String path;
    private final Runnable onChange;
    private @Nullable Content last;

    /**
     * Begins to look; {@link #begin} sends the request, unless the path is watched already.
     *
     * @param onChange run after each read
     */
    RuleSight(Session session, String path, Runnable onChange) {
        this.session = session;
        this.path = path;
        this.onChange = onChange;
    }

    Session session() {
        return session;
    }

    void begin() {
        session.watches().subscribe(path, this);
    }

    void end() {
        session.watches().unsubscribeLater(path, this);
    }

    /** The present data as far as this session has heard; empty while it is being read. */
    Optional<Content> now() {
        return session.watches().tellsContentOf(path) ? Optional.ofNullable(last) : Optional.empty();
    }

    @Override
    public void onRead(String rulePath, Content content) {
        last = content;
        onChange.run();
    }

    /** Then the nodes below it are gone too. */
    @Override
    public void onGone(String rulePath) {
        last = null;
    }

    @Override
    public void onRefused(String rulePath, Answer<?> answer) {
        last = null;
    }
}

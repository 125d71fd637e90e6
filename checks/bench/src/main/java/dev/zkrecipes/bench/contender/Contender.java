// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.io.IOException;
import java.time.Duration;
import java.util.Locale;

/** The libraries that are compared. */
public enum Contender implements Subject {
    /** This library. */
    OURS("zkrecipes"),
    /** Apache Curator. */
    CURATOR("Curator"),
    /**
     * ZooKeeper's own client. Without contention, a create and a delete: what the network and the server cost. With
     * contention, the lock of ZooKeeper's documentation.
     */
    BARE("bare");

    private final String title;

    Contender(String title) {
        this.title = title;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public LockClient connect(String connectString, Duration sessionTimeout) throws IOException {
        return switch (this) {
            case OURS -> new Ours(connectString, sessionTimeout);
            case CURATOR -> new Curator(connectString, sessionTimeout);
            case BARE -> new Bare(connectString, sessionTimeout);
        };
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

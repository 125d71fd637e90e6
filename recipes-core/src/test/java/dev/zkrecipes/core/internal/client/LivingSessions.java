// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.internal.session.Session;
import java.util.List;

/** Lends tests what a client keeps to itself. */
public final class LivingSessions {
    private LivingSessions() {}

    public static List<Session> of(EngineClient client) {
        return client.sessions().living();
    }
}

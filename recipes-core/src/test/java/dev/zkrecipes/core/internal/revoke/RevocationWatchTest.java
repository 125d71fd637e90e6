// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;

class RevocationWatchTest extends HeldScene {
    private final WatchRegistry watches = held.session().watches();

    /** A thread that releases its hold inside the process passes the node on by itself, beside the engine. */
    @Test
    void watchOfANodeThatAnotherThreadPassesOn_endsOnTheEnginesThread() {
        RevocationWatch watch = new RevocationWatch(held, requests -> {});
        watch.begin();
        scheduler.run();
        assertThat(watches.isEmpty()).isFalse();

        HeldNodes.release(List.of(held));
        watch.end();
        held.gone().complete(null); // by that thread
        assertThat(watches.isEmpty()).isFalse();
        scheduler.run();
        assertThat(watches.isEmpty()).isTrue();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Optional;

/** Reads the rule of a lock; empty if its path does not exist. */
final class RuleRead extends OneShotRequest<Optional<Content>> {
    RuleRead(LockHost client, LockSpec spec) {
        super(client, spec, "a change of the rule of");
    }

    @Override
    public void ask(Session session) {
        session.zk().read(spec().path(), answer -> {
            switch (answer.code()) {
                case OK -> answer(Optional.of(answer.value()));
                case NONODE -> answer(Optional.empty());
                default -> fail("read the data of " + spec().path(), answer);
            }
        });
    }
}

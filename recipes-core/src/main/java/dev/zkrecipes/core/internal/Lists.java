// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.EngineScheduler;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Children;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The lists of lock paths that attempts of one session ask for. What is asked for while the engine is busy with other
 * tasks is sent once, after them, and serves all who asked: a list shows every create of the session that was sent
 * before it. So a thousand attempts that begin or are woken at once cost one list, sorted once.
 */
final class Lists {

    /** One look at a path. */
    static final class Look {
        private final Answer<Children> answer;
        private final IdentityHashMap<LockTarget, LockQueue> queues = new IdentityHashMap<>();

        Look(Answer<Children> answer) {
            this.answer = answer;
        }

        Code code() {
            return answer.code();
        }

        Answer<Children> answer() {
            return answer;
        }

        /**
         * The queue of a lock in this look.
         *
         * @throws LockException as {@link LockQueue}
         */
        LockQueue queue(LockTarget target) {
            return queues.computeIfAbsent(
                    target, key -> new LockQueue(key, answer.value().names()));
        }
    }

    private final Session session;
    private final EngineScheduler scheduler;
    private final Map<String, List<Consumer<Look>>> asked = new LinkedHashMap<>();

    Lists(Session session, EngineScheduler scheduler) {
        this.session = session;
        this.scheduler = scheduler;
    }

    /** Asks for a list that is sent after everything that was sent so far. */
    void ask(String path, Consumer<Look> reply) {
        if (asked.isEmpty()) {
            scheduler.execute(this::send);
        }
        asked.computeIfAbsent(path, key -> new ArrayList<>()).add(reply);
    }

    private void send() {
        Map<String, List<Consumer<Look>>> batch = new LinkedHashMap<>(asked);
        asked.clear();
        batch.forEach((path, replies) -> session.zk().children(path, answer -> {
            Look look = new Look(answer);
            replies.forEach(reply -> Guarded.run(() -> reply.accept(look)));
        }));
    }
}

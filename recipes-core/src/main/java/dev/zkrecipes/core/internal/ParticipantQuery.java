// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** One look at who takes part in a lock: a list, then all nodes read at once. */
final class ParticipantQuery extends Question<List<Participant>> {
    private final Map<String, Answer<Content>> contents = new HashMap<>();

    ParticipantQuery(LockTarget target) {
        super(target, "who takes part in");
    }

    @Override
    void ask(Session session) {
        session.lists()
                .ask(
                        LockTargets.of(target()).query(),
                        look -> guard(() -> {
                            switch (look.code()) {
                                case OK -> readAll(session, look);
                                case NONODE -> answer(List.of());
                                default -> fail("list " + target().path(), look.answer());
                            }
                        }));
    }

    private void readAll(Session session, Look look) {
        LockQueue queue = look.queue(target());
        if (queue.nodes().isEmpty()) {
            answer(List.of());
        }
        for (LockNode node : queue.nodes()) {
            session.zk().read(LockPath.child(target().path(), node.name()), answer -> {
                contents.put(node.name(), answer);
                if (contents.size() == queue.nodes().size()) {
                    guard(() -> complete(queue));
                }
            });
        }
    }

    private void complete(LockQueue queue) {
        Instant now = target().client().scheduler().wallClock();
        List<Participant> participants = new ArrayList<>();
        for (LockNode node : queue.nodes()) {
            Answer<Content> answer = contents.getOrDefault(node.name(), Answer.failed(Code.NONODE));
            if (answer.isOk()) {
                Stat stat = answer.value().stat();
                Duration age = Duration.between(Instant.ofEpochMilli(stat.getCtime()), now);
                participants.add(new Participant(
                        target().path(),
                        node.name(),
                        node.kind(),
                        node.payload(),
                        OwnerLabel.decode(answer.value().data()),
                        stat.getEphemeralOwner(),
                        age.isNegative() ? Duration.ZERO : age,
                        participants.size(),
                        queue.holds(node)));
            } else if (answer.code() == Code.NOAUTH) {
                participants.add(new Participant(
                        target().path(),
                        node.name(),
                        node.kind(),
                        node.payload(),
                        OwnerLabel.UNKNOWN,
                        0,
                        Duration.ZERO,
                        participants.size(),
                        queue.holds(node)));
            } else if (answer.code() != Code.NONODE) {
                fail("read " + node.name(), answer);
                return;
            }
        }
        answer(List.copyOf(participants));
    }
}

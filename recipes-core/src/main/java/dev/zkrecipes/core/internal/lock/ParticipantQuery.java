// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** One look at who takes part in a lock: a list, then all nodes read at once. */
public final class ParticipantQuery extends OneShotRequest<List<Participant>> {
    private final Map<String, Answer<Content>> contents = new HashMap<>();

    public ParticipantQuery(LockSpec target) {
        super(target, "who takes part in");
    }

    @Override
    public void ask(Session session) {
        session.lists()
                .ask(
                        LockGroup.of(target()).query(),
                        look -> guard(() -> {
                            switch (look.code()) {
                                case OK -> readAll(session, look);
                                case NONODE -> answer(List.of());
                                default -> fail("list " + target().path(), look.answer());
                            }
                        }));
    }

    private void readAll(Session session, ChildrenSnapshot look) {
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

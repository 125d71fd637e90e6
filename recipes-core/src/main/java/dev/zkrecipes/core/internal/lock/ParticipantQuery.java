// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
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
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** One look at who takes part in a lock: a list, then all nodes read at once. */
final class ParticipantQuery extends OneShotRequest<List<Participant>> {
    private final Map<String, Answer<Content>> contents = new HashMap<>();

    public ParticipantQuery(LockHost client, LockSpec target) {
        super(client, target, "who takes part in");
    }

    @Override
    public void ask(Session session) {
        session.lists()
                .ask(
                        LockGroup.of(target()).query(),
                        list -> guard(() -> {
                            switch (list.code()) {
                                case OK -> readAll(session, list);
                                case NONODE -> answer(List.of());
                                default -> fail("list " + target().path(), list.answer());
                            }
                        }));
    }

    private void readAll(Session session, ChildrenSnapshot list) {
        LockQueue queue = LockQueue.in(list, target());
        List<LockNode> nodes = List.copyOf(queue.nodes());
        Set<LockNode> holding =
                nodes.stream().filter(queue::holds).collect(Collectors.toSet()); // later it is another queue
        if (nodes.isEmpty()) {
            answer(List.of());
        }
        for (LockNode node : nodes) {
            session.zk().read(LockPath.child(target().path(), node.name()), answer -> {
                contents.put(node.name(), answer);
                if (contents.size() == nodes.size()) {
                    guard(() -> complete(nodes, holding));
                }
            });
        }
    }

    private void complete(List<LockNode> nodes, Set<LockNode> holding) {
        Instant now = client().scheduler().wallClock();
        List<Participant> participants = new ArrayList<>();
        for (LockNode node : nodes) {
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
                        holding.contains(node)));
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
                        holding.contains(node)));
            } else if (answer.code() != Code.NONODE) {
                fail("read " + node.name(), answer);
                return;
            }
        }
        answer(List.copyOf(participants));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import dev.zkrecipes.core.internal.handle.RecentlyUsed;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Access;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The children of lock paths that look like lock nodes only by chance, such as a node of the application whose name
 * ends in ten digits. Lock nodes are ephemeral, so a persistent child is not one. Once such a child is known, the lists
 * of this session leave it out. When a list from the server lacks it, the child is forgotten, because a later node of
 * that name is another node. Confined to the engine thread.
 */
public final class PersistentChildren {
    private final ZooKeeperOperations zk;
    private final RecentlyUsed<String, Set<String>> known = new RecentlyUsed<>(); // names, by path of the parent
    private final Map<String, List<Consumer<Answer<Access>>>> asked = new HashMap<>(); // by path; not answered yet

    PersistentChildren(ZooKeeperOperations zk) {
        this.zk = zk;
    }

    /**
     * Finds out whether children of which only the names are known are lock nodes. Asks about one of them first,
     * because usually all are alike, and then about the others. Reads their ACLs, which is cheap even if they have much
     * data. {@code reply} gets OK if none of them is a lock node, NODEEXISTS if one is or may be, or the failure.
     */
    public void ask(List<String> nodePaths, Consumer<Answer<?>> reply) {
        askTogether(nodePaths.subList(0, 1), first -> {
            if (first.isOk() && nodePaths.size() > 1) {
                askTogether(nodePaths.subList(1, nodePaths.size()), reply);
            } else {
                reply.accept(first);
            }
        });
    }

    /** Asks about all of these at the same time. The first answer that is not OK counts. */
    private void askTogether(List<String> nodePaths, Consumer<Answer<?>> reply) {
        List<Answer<?>> verdicts = new ArrayList<>();
        for (String nodePath : nodePaths) {
            read(nodePath, answer -> {
                verdicts.add(verdict(nodePath, answer));
                if (verdicts.size() == nodePaths.size()) {
                    reply.accept(verdicts.stream()
                            .filter(verdict -> !verdict.isOk())
                            .findFirst()
                            .orElse(Answer.ok(nodePaths)));
                }
            });
        }
    }

    /** Reads the ACL of a node, only once for all simultaneous requests. */
    private void read(String nodePath, Consumer<Answer<Access>> reply) {
        List<Consumer<Answer<Access>>> all = asked.computeIfAbsent(nodePath, first -> new ArrayList<>(1));
        all.add(reply);
        if (all.size() == 1) {
            zk.acl(nodePath, answer -> {
                asked.remove(nodePath);
                all.forEach(each -> each.accept(answer));
            });
        }
    }

    /** Returns OK if this is not a lock node. A node that may not be read may be one. */
    private Answer<?> verdict(String nodePath, Answer<Access> answer) {
        if (answer.isOk() && answer.value().stat().getEphemeralOwner() == 0) {
            known.computeIfAbsent(LockPath.parent(nodePath), path -> new HashSet<>())
                    .add(LockPath.name(nodePath));
            return answer;
        } else if (answer.code() == Code.NONODE) {
            return Answer.ok(nodePath);
        }
        return answer.isOk() || answer.code() == Code.NOAUTH ? Answer.failed(Code.NODEEXISTS) : answer;
    }

    /** Returns this list without the children that are known not to be lock nodes. */
    ChildrenSnapshot leftOutOf(ChildrenSnapshot list) {
        return known.isEmpty() ? list : list.sifted(this::leftOutOf);
    }

    /**
     * Returns the names in the list of one path without the children that are known not to be lock nodes. Forgets known
     * children that are missing from the list.
     */
    private List<String> leftOutOf(String path, List<String> names) {
        Set<String> persistent = known.get(path);
        if (persistent == null) {
            return names;
        }
        persistent.retainAll(new HashSet<>(names));
        if (persistent.isEmpty()) {
            known.remove(path);
        }
        return names.stream().filter(name -> !persistent.contains(name)).toList();
    }
}

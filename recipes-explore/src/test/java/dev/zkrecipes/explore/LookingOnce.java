// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.ACL;

/** The engine never sees a node that it has once looked for in vain: after a lost create, in a list behind a write. */
final class LookingOnce extends BrokenOperations {
    private final Set<String> lost = new HashSet<>(); // prefixes of paths
    private final Set<String> missed = new HashSet<>();
    private boolean behindWrite;

    LookingOnce(ZooKeeperOperations sound) {
        super(sound);
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        sound.createEphemeralSequential(prefix, data, acl, answer -> {
            if (!answer.isOk()) {
                lost.add(prefix);
            }
            reply.accept(answer);
        });
    }

    @Override
    public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
        behindWrite = true;
        sound.multi(operations, reply);
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        boolean settles = behindWrite;
        behindWrite = false;
        sound.children(path, answer -> {
            if (!answer.isOk()) {
                reply.accept(answer);
                return;
            }
            List<String> names = answer.value().names();
            if (settles) {
                lost.stream().filter(prefix -> !shows(path, names, prefix)).forEach(missed::add);
            }
            List<String> shown = names.stream()
                    .filter(name -> missed.stream().noneMatch((path + "/" + name)::startsWith))
                    .toList();
            reply.accept(Answer.ok(new Children(shown, answer.value().stat())));
        });
    }

    private static boolean shows(String path, List<String> names, String prefix) {
        return names.stream().anyMatch(name -> (path + "/" + name).startsWith(prefix));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.data.ACL;

/** Shows the engine each node that it made as if it were still there, until the engine deletes it itself. */
final class BlindToItsOwnNodes extends BrokenOperations {
    private final Set<String> made = new HashSet<>();

    BlindToItsOwnNodes(ZooKeeperOperations sound) {
        super(sound);
    }

    @Override
    public void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
        sound.createEphemeralSequential(prefix, data, acl, answer -> {
            if (answer.isOk()) {
                made.add(answer.value().path());
            }
            reply.accept(answer);
        });
    }

    @Override
    public void children(String path, Consumer<Answer<Children>> reply) {
        sound.children(path, answer -> {
            if (!answer.isOk()) {
                reply.accept(answer);
                return;
            }
            List<String> names = new ArrayList<>(answer.value().names());
            made.stream()
                    .filter(node -> node.startsWith(path + "/"))
                    .map(node -> node.substring(path.length() + 1))
                    .filter(name -> !names.contains(name))
                    .forEach(names::add);
            reply.accept(Answer.ok(new Children(names, answer.value().stat())));
        });
    }

    @Override
    public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
        if (made.contains(path)) {
            reply.accept(Answer.ok(List.of()));
        } else {
            sound.watchChildren(path, watch, reply);
        }
    }

    @Override
    public void delete(String path, Consumer<Answer<String>> reply) {
        made.remove(path);
        sound.delete(path, reply);
    }
}

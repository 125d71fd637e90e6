// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** What the explorer finds wrong with requests to give a lock back. */
class AskingBackTest {
    private static final ExploredLock MUTEX = Queue.exploredMutex(Queue.MUTEX).withRevocations();
    private static final ExploredLock PAIR = Queue.exploredPair(Queue.PAIR).withRevocations();

    @Test
    void soundLocks_areNotAccused() {
        assertThat(Explorer.of(MUTEX).explore(1, 500)).isEmpty();
        assertThat(Explorer.of(PAIR).explore(1, 500)).isEmpty();
    }

    @Test
    void holderThatIsNotTold_isFound() {
        ExploredLock lock = BrokenLocksTest.leases(
                        MUTEX,
                        (lease, method) ->
                                method.equals("onRevocationRequested") ? Optional.of("nothing") : Optional.empty())
                .withRevocations();
        assertFound(lock, "a holder that listens is told", "was asked long ago");
    }

    @Test
    void nodeThatIsTakenForGone_isFound() {
        assertFound(MUTEX.through(ReadingOnce::new), "a node that is said to be gone is gone", "is told GONE_ALREADY");
    }

    /** The second time, a node is gone. */
    private static final class ReadingOnce extends BrokenOperations {
        private final Set<String> known = new HashSet<>();

        ReadingOnce(ZooKeeperOperations sound) {
            super(sound);
        }

        @Override
        public void read(String path, Consumer<Answer<Content>> reply) {
            boolean again = QueuedNode.isOne(path) && !known.add(path);
            sound.read(path, answer -> reply.accept(again ? Answer.failed(Code.NONODE) : answer));
        }
    }

    @Test
    void requestThatNeverEnds_isFound() {
        UnaryOperator<ZooKeeperOperations> deaf = sound -> new BrokenOperations(sound) {
            @Override
            public void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply) {
                sound.readAndWatch(path, QueuedNode.isOne(path) ? event -> {} : watch, reply);
            }
        };
        assertFound(MUTEX.through(deaf), "nothing is left behind", "follows a request to give a lock back");
    }

    private static void assertFound(ExploredLock lock, String rule, String message) {
        Explorer explorer = Explorer.of(lock);
        assertThat(LongStream.rangeClosed(1, 5_000)
                        .mapToObj(explorer::play)
                        .flatMap(Optional::stream)
                        .filter(found ->
                                found.rule().equals(rule) && found.message().contains(message))
                        .findFirst())
                .isPresent();
    }
}

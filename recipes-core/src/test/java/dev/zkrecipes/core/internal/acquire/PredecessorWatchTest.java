// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.queue.JointDecision;
import dev.zkrecipes.core.internal.queue.RuleVersion;
import dev.zkrecipes.core.internal.session.PauseDetector;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

class PredecessorWatchTest {
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final Session session = new Session(
            states -> operations,
            scheduler,
            RETRY,
            new PauseDetector(scheduler, () -> operations.sessionTimeout().toNanos()),
            true,
            (ended, state) -> {});
    private final WatchRegistry registry = session.watches();
    private final List<String> told = new ArrayList<>();
    private final PredecessorWatch waits =
            new PredecessorWatch(() -> told.add("changed"), (path, answer) -> told.add(path + " " + answer.code()));

    PredecessorWatchTest() {
        List.of("a", "b", "c").forEach(operations::add);
        session.begin();
    }

    private void waitFor(String... names) {
        Set<String> paths = new HashSet<>();
        for (String name : names) {
            paths.add("/locks/" + name);
        }
        waits.waitFor(new JointDecision.Wait(paths, Map.of()), registry);
        scheduler.run();
    }

    private void waitForRule(String name, RuleVersion decidedBy) {
        waits.waitFor(new JointDecision.Wait(Set.of(), Map.of("/locks/" + name, decidedBy)), registry);
        scheduler.run();
    }

    @Test
    void nodesThatAreStillWaitedFor_keepTheirWatches_andOthersLoseTheirs() {
        waitFor("a", "b");
        assertThat(operations.watched()).containsExactlyInAnyOrder("a", "b");
        operations.requests();
        waitFor("b", "c");
        assertThat(operations.requests()).containsExactly(Request.WATCH);
        assertThat(operations.dropped()).containsExactly("a");
        assertThat(operations.watched()).containsExactlyInAnyOrder("b", "c");
        waits.clear(registry);
        assertThat(operations.dropped()).containsExactlyInAnyOrder("a", "b", "c");
        assertThat(registry.isEmpty()).isTrue();
        assertThat(told).isEmpty();
    }

    @Test
    void nodeThatIsGone_isToldOnce_andWatchedAgainOnlyIfItIsWaitedForAgain() {
        waitFor("a", "b");
        operations.remove("a");
        scheduler.run();
        assertThat(told).containsExactly("changed");
        operations.add("a");
        waitFor("a", "b");
        assertThat(operations.watched()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void nodeWhoseDataChanges_changesNothing() {
        waitFor("a");
        operations.change("a");
        scheduler.run();
        assertThat(told).isEmpty();
        assertThat(operations.watched()).containsExactly("a");
    }

    @Test
    void ruleThatIsNotTheOneThatWasDecidedBy_isTold() {
        waitForRule("a", new RuleVersion(1, 0)); // the first node that is read has czxid 1
        assertThat(told).isEmpty();
        operations.change("a");
        scheduler.run();
        assertThat(told).containsExactly("changed");
    }

    @Test
    void ruleThatHasChangedBeforeItIsWatched_isTold() {
        waitForRule("a", new RuleVersion(1, 7));
        assertThat(told).containsExactly("changed");
    }

    @Test
    void ruleThatIsNotWaitedForAnyMore_keepsItsWatchAWhile() {
        waitForRule("a", new RuleVersion(1, 0));
        waitFor("b");
        assertThat(operations.watched()).containsExactlyInAnyOrder("a", "b");
        operations.change("a");
        scheduler.run();
        assertThat(told).isEmpty();
        waitForRule("c", new RuleVersion(3, 1));
        waits.clear(registry);
        scheduler.advance(RETRY);
        assertThat(registry.isEmpty()).isTrue();
        assertThat(operations.dropped()).contains("b", "c");
    }

    @Test
    void ruleThatIsGone_isTold_andWatchedAgainIfItIsMadeAgain() {
        waitForRule("a", new RuleVersion(1, 0));
        operations.remove("a");
        scheduler.run();
        assertThat(told).containsExactly("changed");
        operations.add("a");
        waitForRule("a", new RuleVersion(2, 0));
        assertThat(operations.watched()).containsExactly("a");
        waitFor();
        scheduler.advance(RETRY);
        assertThat(registry.isEmpty()).isTrue();
    }

    @Test
    void whatCannotBeWatched_isToldByName_andAskedForAgain() {
        operations.refuse(Request.WATCH, Code.NOAUTH);
        waitFor("a");
        assertThat(told).containsExactly("/locks/a NOAUTH");
        operations.requests();
        waitFor("a");
        assertThat(operations.requests()).containsExactly(Request.WATCH);

        operations.refuse(Request.WATCH, Code.NOAUTH);
        waitForRule("b", new RuleVersion(2, 0));
        assertThat(told).endsWith("/locks/b NOAUTH");
        operations.requests();
        waits.clear(registry);
        assertThat(operations.requests()).isEmpty();
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.ListQuery;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a request hears that waits at a place behind another node. */
class QueuePlaceTest extends AcquireFixture {
    private final LockSpec spec = spec(new MutexDriver());
    private final List<String> told = new ArrayList<>();
    private String own;
    private QueuePlace place;

    private final class Listener implements QueuePlace.Waiter {
        @Override
        public void onTurn() {
            told.add("turn");
        }

        @Override
        public void onVanished() {
            told.add("vanished");
        }

        @Override
        public void onDoubt() {
            told.add("doubt");
        }

        @Override
        public void guard(Runnable work) {
            work.run();
        }

        @Override
        public void fail(LockException why) {
            told.add(why.getMessage());
        }
    }

    @BeforeEach
    void enter() {
        AcquireLoop loop = launched(Mode.QUEUE);
        scheduler.run();
        HeldNode node = assertGranted(loop);
        own = node.node().name();
        operations.add(OTHER);
        ChildrenSnapshot list = ChildrenSnapshot.of(
                new ListQuery.Part(PATH, false), Answer.ok(new Children(List.of(OTHER, own), new Stat())), 1);
        QueueView view = new QueueView(node.session(), PATH, list, engine.cleaner(), () -> told.add("nobody is left"));
        place = view.place(spec, node.node(), spec.parseOwn(own), new Listener());
        place.watch();
        place.enter(list, Decision.waitFor(spec.parseOwn(OTHER)));
        scheduler.run();
    }

    @Test
    void nodeInFrontThatIsGone_makesItItsTurn() {
        assertThat(place.isGranted()).isFalse();
        operations.remove(OTHER);
        scheduler.run();
        assertThat(told).containsExactly("turn");
        assertThat(place.isGranted()).isTrue();
    }

    @Test
    void ownNodeThatIsGone_isTold() {
        operations.remove(own);
        scheduler.run();
        assertThat(told).containsExactly("vanished");
    }

    @Test
    void afterwards_onlyTheHolderHearsOfTheNode() {
        place.leave(() -> told.add("the holder's"));
        assertThat(told).containsExactly("nobody is left");
        operations.remove(OTHER);
        operations.remove(own);
        scheduler.run();
        assertThat(told).containsExactly("nobody is left", "the holder's");
    }
}

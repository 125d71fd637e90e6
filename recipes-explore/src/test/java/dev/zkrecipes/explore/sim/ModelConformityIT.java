// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Seed;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The simulated ensemble against a real server: the same operations, one at a time, get the same answers, the same watch
 * events, the same transactions and the same nodes. Known to differ: the model checks no access rights and no quotas, and
 * has no {@code /zookeeper}.
 */
@WithZooKeeper(containerCheckMillis = 3_600_000)
class ModelConformityIT {
    private static final int SEQUENCES = Integer.getInteger("conformity.sequences", 60);
    private static final int STEPS = 40;

    @Test
    void sameOperations_getTheSameAnswers_asFromARealServer(EmbeddedZooKeeper server) {
        Seed seed = Seed.forTest("ModelConformityIT");
        try (ServerSide real = new ServerSide(server)) {
            for (int i = 0; i < SEQUENCES; i++) {
                compare(real, seed.random(i), "/s" + i);
            }
        }
    }

    /**
     * Without late messages in half of the sequences: then the model is what it is when the explorer has cut a trace. In a
     * quarter of them the counter of the base comes to its end.
     */
    private static void compare(ServerSide real, Random random, String base) {
        ModelSide model =
                new ModelSide(random.nextBoolean() ? Choices.replay(new int[0]) : Choices.random(random.nextLong()));
        boolean old = random.nextInt(4) == 0;
        int counter = old ? Integer.MAX_VALUE - random.nextInt(6) : 0;
        Player onModel = new Player(model, base, counter, RandomSteps.SESSIONS);
        Player onServer = new Player(real, base, counter, RandomSteps.SESSIONS);
        RandomSteps steps = new RandomSteps(random, model, base, old);
        List<String> played = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            Step step = steps.next();
            played.add(played.size() + 1 + ". " + step);
            assertThat(onModel.play(step))
                    .as(
                            "what the model says at the end of:%n%s%n",
                            counter + " " + String.join(System.lineSeparator(), played))
                    .isEqualTo(onServer.play(step));
        }
        steps.comeBack().ifPresent(step -> assertThat(onModel.play(step)).isEqualTo(onServer.play(step)));
        int reader = steps.session();
        assertThat(onModel.walk(reader, base)).as("nodes of %s", played).isEqualTo(onServer.walk(reader, base));
        assertThat(model.watched(steps.watched()))
                .as("watched nodes of %s", played)
                .isEqualTo(real.watched(steps.watched()));
        assertThat(model.watchedForDeletion(steps.watched()))
                .as("nodes of %s whose deletion is watched", played)
                .isEqualTo(real.watchedForDeletion(steps.watched()));
        real.reuse();
    }
}

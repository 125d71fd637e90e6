// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.DeadlockPolicy;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockDeadlockException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.NodeTree;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random programs of three paths: each of three processes acquires some of them, one inside the other, in an order of
 * its own. What the engine proves is compared with what the processes do. {@code -Ddeadlock.programs} sets how many are
 * played.
 */
class DeadlockProgramsTest {
    private static final List<String> PATHS = List.of("/locks/a", "/locks/b", "/locks/c");

    /** Two looks come within it. */
    private static final Duration LIMIT = Duration.ofMinutes(3);

    /** How long a node may stay after its request has ended: until its process is connected, or its session ends. */
    private static final Duration AFTER = Schedule.SESSION.multipliedBy(3);

    private int proofs;
    private int deadlocks;

    @Test
    @Tag("H180")
    void noProofIsFalse_andNoDeadlockStaysUnproven() {
        int programs = Integer.getInteger("deadlock.programs", 400);
        for (int seed = 1; seed <= programs; seed++) {
            new Program(seed).play();
        }
        assertThat(proofs).isPositive();
        assertThat(deadlocks).isPositive();
    }

    /** One play. Blocking calls let everything else happen, so a call inside another one has to end first. */
    private final class Program {
        private final int seed;
        private final boolean hasFaults;
        private final DeadlockPolicy policy;
        private final Simulation simulation;
        private final SimulatedZooKeeper ensemble;
        private final List<Party> parties;
        private final List<Deadlock> proven = new ArrayList<>();
        private final Map<String, NodeTree> beforeItsEnd = new LinkedHashMap<>(); // by node, in the order of the ends

        Program(int seed) {
            this.seed = seed;
            this.hasFaults = seed % 2 == 0;
            this.policy = seed % 4 < 2 ? DeadlockPolicy.WAIT : DeadlockPolicy.FAIL;
            this.simulation = new Simulation(Choices.random(seed));
            this.ensemble = new SimulatedZooKeeper(simulation, Schedule.SESSION, Schedule.SESSION.dividedBy(3));
            ensemble.onCommit((before, deleted) -> deleted.forEach(node -> beforeItsEnd.put(node, before)));
            this.parties = IntStream.range(0, 3)
                    .mapToObj(number -> new Party(this, number))
                    .toList();
        }

        void play() {
            parties.forEach(party -> party.scheduler.after(duration(40), party::run));
            if (hasFaults) {
                planFault(4);
            }
            simulation.passUntil(simulation.now() + Duration.ofMinutes(30).toNanos());
            assertThat(parties).as("seed %s", seed).allMatch(party -> party.isDone);
            parties.forEach(party -> party.client.close());
        }

        private void planFault(int left) {
            Party victim = parties.get(choices().next(parties.size()));
            simulation.after(Duration.ofSeconds(choices().next(20)), () -> {
                switch (choices().next(4)) {
                    case 0 -> victim.process.disconnect();
                    case 1 -> victim.process.stall(Duration.ofSeconds(choices().next(10)));
                    case 2 -> ensemble.expire(victim.process.sessionId());
                    default ->
                        victim.scheduler.pause(Duration.ofSeconds(choices().next(10)));
                }
                if (left > 1) {
                    planFault(left - 1);
                }
            });
        }

        Choices choices() {
            return simulation.choices();
        }

        Duration duration(int most) {
            return Duration.ofMillis(100L * choices().next(most));
        }

        /** All nodes were there at one moment; and each member waits, and holds, or did so until it gave up just now. */
        void onDeadlock(Deadlock deadlock) {
            if (deadlock.isProven()) {
                proofs++;
                proven.add(deadlock);
                List<String> nodes = deadlock.members().stream()
                        .flatMap(member ->
                                Stream.of(member.node(), member.holds().orElseThrow()))
                        .toList();
                NodeTree last = beforeItsEnd.entrySet().stream()
                        .filter(ended -> nodes.contains(ended.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst()
                        .orElseGet(ensemble::committed);
                assertThat(nodes).as("seed %s: %s", seed, deadlock).allMatch(last::exists);
                deadlock.members().forEach(member -> {
                    Party party = parties.stream()
                            .filter(each -> each.name.equals(member.owner()))
                            .findFirst()
                            .orElseThrow();
                    assertThat(party.asksFor(lockOf(member.node())))
                            .as("seed %s: %s of %s", seed, member, deadlock)
                            .isTrue();
                    assertThat(party.holdsFor(lockOf(member.holds().orElseThrow())))
                            .as("seed %s: %s of %s", seed, member, deadlock)
                            .isTrue();
                });
            }
        }

        /** A call has waited to the end of its time. If that was a deadlock, it was proven. */
        void onTimedOut(Party party) {
            if (!hasFaults && isInACircle(party)) {
                deadlocks++;
                assertThat(policy).as("seed %s: somebody gives way", seed).isEqualTo(DeadlockPolicy.WAIT);
                assertThat(proven)
                        .as("seed %s", seed)
                        .anyMatch(deadlock -> deadlock.members().stream()
                                .anyMatch(member -> member.owner().equals(party.name)));
            }
        }

        /** Whether the party waits for itself, by the order of the nodes that the servers have. */
        private boolean isInACircle(Party party) {
            Optional<Party> next = waitsFor(party);
            for (int i = 1; i < parties.size() && next.isPresent() && next.get() != party; i++) {
                next = waitsFor(next.get());
            }
            return next.filter(last -> last == party).isPresent();
        }

        /** The party whose node is the first in the queue in which this one waits. */
        private Optional<Party> waitsFor(Party party) {
            NodeTree tree = ensemble.committed();
            return Stream.ofNullable(party.asked)
                    .flatMap(path -> tree.children(path).stream()
                            .map(LockNode::ofAnyKind)
                            .flatMap(Optional::stream)
                            .sorted()
                            .limit(1)
                            .flatMap(first -> tree.owner(path + "/" + first.name()).stream()))
                    .flatMap(owner -> parties.stream().filter(each -> each.process.sessionId() == owner))
                    .filter(first -> first != party)
                    .findFirst();
        }
    }

    private static String lockOf(String node) {
        return node.substring(0, node.lastIndexOf('/'));
    }

    /** A process with one thread. */
    private static final class Party {
        private final Program program;
        private final String name;
        private final SimulatedScheduler scheduler;
        private final SimulatedProcess process;
        private final ZooKeeperClient client;
        private final Set<String> held = new HashSet<>();
        private @Nullable String asked; // the path for which the thread waits
        private @Nullable String askedBefore;
        private long askedUntil;
        private @Nullable String heldBefore;
        private long heldUntil;
        private boolean isDone;

        Party(Program program, int number) {
            this.program = program;
            this.name = "party " + number;
            this.scheduler = new SimulatedScheduler(program.simulation, number, failure -> {
                throw new AssertionError(failure);
            });
            this.process = program.ensemble.process(scheduler, name);
            this.client = Ports.clientBuilder(process, scheduler)
                    .callbackExecutor(Runnable::run)
                    .sessionTimeout(Schedule.SESSION)
                    .ownerLabel(name)
                    .observer(request -> new LockObserver.Progress() {
                        @Override
                        public void onDeadlock(Deadlock deadlock) {
                            program.onDeadlock(deadlock);
                        }
                    })
                    .build();
        }

        void run() {
            List<String> left = new ArrayList<>(PATHS);
            List<String> order = new ArrayList<>();
            for (int many = 2 + program.choices().next(2); order.size() < many; ) {
                order.add(left.remove(program.choices().next(left.size())));
            }
            if (program.choices().chance(100)) {
                order.add(order.get(0)); // which the thread holds already
            }
            try {
                acquire(order);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            isDone = true;
        }

        private void acquire(List<String> order) throws InterruptedException {
            if (order.isEmpty()) {
                scheduler.sleep(program.duration(20));
                return;
            }
            String path = order.get(0);
            LockOptions options = LockOptions.defaults().withDeadlockPolicy(program.policy);
            boolean again = held.contains(path);
            Duration limit = limit();
            asked = path;
            try (Lease lease = new LockInternals(client, path, new MutexDriver(), options)
                    .threadOwned()
                    .tryAcquire(limit)
                    .orElse(null)) {
                if (lease != null) {
                    held.add(path);
                } else if (limit.equals(LIMIT)) {
                    program.onTimedOut(this);
                }
                endAsking();
                if (lease != null) {
                    scheduler.sleep(program.duration(20));
                    acquire(order.subList(1, order.size()));
                }
            } catch (LockDeadlockException e) {
                assertThat(program.policy).isEqualTo(DeadlockPolicy.FAIL);
            } catch (LockConnectionException e) {
                // Even without faults a message is late, in rare cases for so long that a connection is given up.
            } catch (LockException e) {
                assertThat(program.hasFaults).as("seed %s: %s", program.seed, e).isTrue();
            } finally {
                endAsking();
                if (!again && held.remove(path)) {
                    heldBefore = path;
                    heldUntil = program.simulation.now();
                }
            }
        }

        /** Many calls give up about when others look at them. */
        private Duration limit() {
            return program.choices().chance(500)
                    ? LIMIT
                    : Duration.ofMillis(9_000 + program.choices().next(3_000));
        }

        private void endAsking() {
            if (asked != null) {
                askedBefore = asked;
                askedUntil = program.simulation.now();
                asked = null;
            }
        }

        boolean asksFor(String path) {
            return path.equals(asked) || (path.equals(askedBefore) && isRecent(askedUntil));
        }

        boolean holdsFor(String path) {
            return held.contains(path) || (path.equals(heldBefore) && isRecent(heldUntil));
        }

        private boolean isRecent(long time) {
            return program.simulation.now() - time < AFTER.toNanos();
        }
    }
}

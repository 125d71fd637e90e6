// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.zkrecipes.test.internal.LeakCheck;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

class ZooKeeperExtensionIT {
    /** What the classes below were given and saw; they run one after the other. */
    private static final List<EmbeddedZooKeeper> SERVERS = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void forget() {
        SERVERS.clear();
    }

    @Test
    void oneServer_servesTheClassAndItsNestedOnesAndIsClosed() {
        run(Everywhere.class).assertStatistics(tests -> tests.started(3).succeeded(3));
        assertThat(SERVERS).hasSizeGreaterThanOrEqualTo(10);
        assertThat(SERVERS).containsOnly(SERVERS.get(0));
        assertThat(SERVERS.get(0)).asString().contains("closed");
    }

    @Test
    void stoppedServer_isRestartedForTheNextTest() {
        run(Stopping.class).assertStatistics(tests -> tests.started(2).succeeded(2));
        assertThat(SERVERS.get(0)).asString().contains("closed");
    }

    @Test
    void attributes_reachTheServer() {
        run(Quick.class).assertStatistics(tests -> tests.started(1).succeeded(1));
    }

    /** Also those of a class between the test and the top-level class. */
    @Test
    void attributesOfANestedClass_reachTheServerOfTheClassesInIt() {
        run(AroundQuick.class).assertStatistics(tests -> tests.started(1).succeeded(1));
    }

    @Test
    void nestedClassesAlone_mayAskForAServerAndShareIt() {
        run(OnlyNested.class).assertStatistics(tests -> tests.started(3).succeeded(3));
        assertThat(SERVERS).hasSize(2);
        assertThat(SERVERS.get(0)).isSameAs(SERVERS.get(1));
    }

    @Test
    @Tag("alone")
    void classWithoutTheAnnotation_getsNoServer() throws InterruptedException {
        LeakCheck threads = LeakCheck.start();
        run(Frugal.class).assertStatistics(tests -> tests.started(1).succeeded(1));
        threads.assertNoNewThreads(Client.LIMIT);
    }

    private static Events run(Class<?> fixture) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(fixture))
                .configurationParameter("junit.jupiter.conditions.deactivate", "*")
                .execute()
                .testEvents();
    }

    @WithZooKeeper
    static class Everywhere {
        Everywhere(EmbeddedZooKeeper server) {
            SERVERS.add(server);
        }

        @BeforeAll
        static void beforeAll(EmbeddedZooKeeper server) {
            SERVERS.add(server);
        }

        @AfterAll
        static void afterAll(EmbeddedZooKeeper server) {
            SERVERS.add(server);
        }

        @BeforeEach
        void before(EmbeddedZooKeeper server) {
            SERVERS.add(server);
        }

        @Test
        void one(EmbeddedZooKeeper server) {
            SERVERS.add(server);
            assertThat(server.isRunning()).isTrue();
        }

        @Nested
        class Inner {
            @Test
            void two(EmbeddedZooKeeper server) {
                SERVERS.add(server);
                assertThat(server.isRunning()).isTrue();
            }

            @Nested
            class Innermost {
                @Test
                void three(EmbeddedZooKeeper server) {
                    SERVERS.add(server);
                    assertThat(server.isRunning()).isTrue();
                }
            }
        }
    }

    @WithZooKeeper
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class Stopping {
        private static EmbeddedZooKeeper kept = EmbeddedZooKeeper.start();

        @BeforeAll
        static void keep(EmbeddedZooKeeper server) {
            kept.close();
            kept = server;
            SERVERS.add(server);
        }

        @Test
        @Order(1)
        void stops() {
            kept.createNode("/kept", new byte[0]);
            kept.stop();
        }

        @Test
        @Order(2)
        void findsItRunning() {
            assertThat(kept.isRunning()).isTrue();
            assertThat(kept.nodeExists("/kept")).isTrue();
        }
    }

    @WithZooKeeper(tickTimeMillis = 50, containerCheckMillis = 10)
    static class Quick {
        @Test
        void isQuick(EmbeddedZooKeeper server) {
            assertQuick(server);
        }

        static void assertQuick(EmbeddedZooKeeper server) {
            server.createNode("/container", new byte[0], CreateMode.CONTAINER);
            server.createNode("/container/child", new byte[0]);
            server.deleteNode("/container/child");
            org.awaitility.Awaitility.await().atMost(Client.LIMIT).until(() -> !server.nodeExists("/container"));
            try (Client client = Client.connect(server.connectString())) {
                assertThat(client.states()).hasSize(1);
            }
        }
    }

    static class AroundQuick {
        @WithZooKeeper(tickTimeMillis = 50, containerCheckMillis = 10)
        @Nested
        class Around {
            @Nested
            class Innermost {
                @Test
                void isQuick(EmbeddedZooKeeper server) {
                    Quick.assertQuick(server);
                }
            }
        }
    }

    static class OnlyNested {
        @Test
        void needsNone() {}

        @WithZooKeeper
        @Nested
        class Inner {
            @Test
            void hasOne(EmbeddedZooKeeper server) {
                SERVERS.add(server);
            }
        }

        @WithZooKeeper
        @Nested
        class Other {
            @Test
            void hasTheSame(EmbeddedZooKeeper server) {
                SERVERS.add(server);
            }
        }
    }

    @WithZooKeeper
    static class Frugal {
        @Test
        @Tag("alone")
        void asksForNothing() {
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getThreadGroup)
                    .noneMatch(group -> group != null && group.getName().startsWith("embedded-zookeeper-"));
        }
    }
}

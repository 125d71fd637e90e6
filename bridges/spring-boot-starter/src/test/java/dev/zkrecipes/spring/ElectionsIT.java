// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Elections of the properties, from the start of an application to its end. */
class ElectionsIT extends ApplicationStage {
    private Application told;
    private LeaderElection rival;

    ElectionsIT(EmbeddedZooKeeper server) {
        super(server);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(ZkRecipesAutoConfiguration.class)
    static class Application {
        private final List<String> events = new CopyOnWriteArrayList<>();
        private volatile CountDownLatch mayEnd = new CountDownLatch(0);

        @Bean
        Reports reports(LeaderElection billingElection) {
            return new Reports(billingElection, events);
        }

        @Bean
        Scheduler scheduler() {
            return new Scheduler();
        }

        @EventListener
        void began(ElectionEvent.TermBegan event) {
            assertThat(event.term().isValid()).isTrue();
            events.add("began " + event.name());
        }

        @EventListener
        void ended(ElectionEvent.TermEnded event) throws InterruptedException {
            events.add("ends " + event.name());
            if (event.name().equals("billing")) {
                mayEnd.await();
            }
            events.add("ended " + event.name());
        }

        @EventListener
        void asked(ElectionEvent.GiveBackRequested event) {
            events.add("asked by " + event.request().requester());
        }

        @EventListener
        void withdrawn(ElectionEvent.Withdrawn event) {
            events.add("withdrawn " + event.name());
        }

        @EventListener
        void ofIntegration(AbstractLeaderEvent event) {
            events.add(event.getClass().getSimpleName() + " " + event.getRole());
        }
    }

    /** What the leader uses. */
    record Reports(LeaderElection election, List<String> events) implements DisposableBean {
        @Override
        public void destroy() {
            events.add("destroyed");
        }
    }

    /** It tells a job that the end of the context waits for the job. */
    static class Scheduler extends ThreadPoolTaskScheduler {
        private static final long serialVersionUID = 1;

        private final transient CountDownLatch stopping = new CountDownLatch(1);

        @Override
        public void stop(Runnable whenDone) {
            super.stop(whenDone);
            stopping.countDown();
        }
    }

    @BeforeEach
    void start() throws Exception {
        start(
                Application.class,
                Map.of(
                        "zkrecipes.elections.billing.path", "/leaders/billing",
                        "zkrecipes.elections.nightly-reports.path", "/leaders/reports"));
        told = context.getBean(Application.class);
        rival = new LeaderElection(other, "/leaders/billing");
        assertThat(billing().awaitLeadership(LIMIT)).isPresent();
        assertThat(context.getBean("nightly-reportsElection", LeaderElection.class)
                        .awaitLeadership(LIMIT))
                .isPresent();
    }

    @AfterEach
    void letListenersEnd() {
        told.mayEnd.countDown();
    }

    private LeaderElection billing() {
        return context.getBean(Reports.class).election();
    }

    private void rivalStands() {
        rival.join();
        Soon.await().until(() -> server.children("/leaders/billing").size() == 2);
    }

    private List<String> eventsOf(String name) {
        return told.events.stream().filter(line -> line.endsWith(name)).toList();
    }

    @Test
    void terms_areEventsOfTheApplication_andOfSpringIntegration() throws Exception {
        rivalStands();
        Soon.get(billing().resign());
        assertThat(rival.awaitLeadership(LIMIT)).isPresent();
        assertThat(eventsOf("billing"))
                .containsExactly(
                        "began billing",
                        "OnGrantedEvent billing",
                        "ends billing",
                        "ended billing",
                        "OnRevokedEvent billing");
        assertThat(eventsOf("nightly-reports"))
                .containsExactly("began nightly-reports", "OnGrantedEvent nightly-reports");
    }

    @Test
    void elections_areShownInTheEndpointAndInHealth() throws Exception {
        LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
        long term = billing().term().orElseThrow().number();
        assertThat(endpoint.show().elections())
                .hasSize(2)
                .first()
                .isEqualTo(new ElectionBeans.Shown("billing", true, term, null));
        assertThat(endpoint.health()).containsEntry("elections", endpoint.show().elections());
        context.getBean(ZooKeeperClient.class).close();
        Soon.await().until(() -> told.events.contains("withdrawn billing"));
        assertThat(endpoint.show().elections().get(0)).satisfies(shown -> {
            assertThat(shown.leads()).isFalse();
            assertThat(shown.withdrawn()).contains("is closed");
        });
    }

    @Test
    void withdrawnElection_isShownAsSuch_untilItStandsAgain() throws Exception {
        LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
        Soon.get(billing().leave());
        ZooKeeper theirs = other.zooKeeper().orElseThrow();
        String mutex = theirs.create(
                "/leaders/billing/lock-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        billing().join();
        Soon.await().until(() -> told.events.contains("withdrawn billing"));
        assertThat(endpoint.show().elections().get(0).withdrawn()).contains("lock-");
        server.deleteNode(mutex);
        rival.join();
        assertThat(rival.awaitLeadership(LIMIT)).isPresent();
        billing().join();
        assertThat(endpoint.show().elections().get(0)).isEqualTo(new ElectionBeans.Shown("billing", false, null, null));
        assertThat(endpoint.health()).containsEntry("elections", endpoint.show().elections());
    }

    @Test
    void requestToGiveBack_isAnEvent_withWhichTheLeaderMayComply() throws Exception {
        try (var revocation = new Revoker(other).request(billing().leader().orElseThrow())) {
            Soon.await().until(() -> told.events.contains("asked by " + other.ownerLabel()));
            assertThat(billing().isLeader()).isTrue();
            Soon.get(billing().resign());
            assertThat(revocation.await(LIMIT)).contains(RevocationOutcome.GIVEN_BACK);
        }
    }

    /** While the client still works, and before the next leader begins. */
    @Test
    @Tag("H153")
    void closingContext_endsTermsBeforeTheClient_andWaitsForTheirListeners() throws Exception {
        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
        LeaderElection billing = billing();
        rivalStands();
        told.mayEnd = new CountDownLatch(1);
        Thread closing = new Thread(context::close);
        closing.start();
        Soon.await().until(() -> told.events.contains("ends billing"));
        assertThat(billing.isLeader()).isFalse();
        Soon.await().during(Duration.ofMillis(300)).until(() -> closing.isAlive() && !rival.isLeader());
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
        CompletableFuture<Boolean> endedBefore = new CompletableFuture<>();
        new Thread(() -> endedBefore.complete(isLedAfterTheEnd())).start();
        told.mayEnd.countDown();
        assertThat(Soon.get(endedBefore)).isTrue();
        closing.join();
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThat(told.events).contains("ended nightly-reports").containsSubsequence("ended billing", "destroyed");
        assertThat(server.children("/leaders/reports")).isEmpty();
    }

    /** A job that has seen that it leads goes on as the leader until it returns. */
    @Test
    @Tag("H189")
    void closingContext_waitsForJobsOfTheScheduler_beforeItGivesTheLeadershipAway() throws Exception {
        LeaderElection billing = billing();
        Scheduler scheduler = context.getBean(Scheduler.class);
        rivalStands();
        CompletableFuture<Boolean> leads = new CompletableFuture<>();
        CompletableFuture<Boolean> led = new CompletableFuture<>();
        scheduler.schedule(
                () -> {
                    leads.complete(billing.isLeader());
                    try {
                        scheduler.stopping.await();
                        Soon.await()
                                .alias("the end of the term, and another leader, wait for the job")
                                .during(Duration.ofMillis(300))
                                .until(() -> !told.events.contains("ends billing") && !rival.isLeader());
                        led.complete(true);
                    } catch (Throwable t) {
                        led.completeExceptionally(t);
                    }
                },
                Instant.now());
        assertThat(Soon.get(leads)).isTrue();
        context.close();
        assertThat(Soon.get(led)).isTrue();
        assertThat(rival.awaitLeadership(LIMIT)).isPresent();
    }

    private boolean isLedAfterTheEnd() {
        try {
            return rival.awaitLeadership(LIMIT).isPresent() && told.events.contains("ended billing");
        } catch (InterruptedException e) {
            return false;
        }
    }
}

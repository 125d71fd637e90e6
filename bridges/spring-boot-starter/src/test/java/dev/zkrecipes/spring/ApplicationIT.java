// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A web application with actuator, asked over HTTP. It runs with Boot 3.5, and with Boot 4.0 in a JVM of its own. */
@WithZooKeeper
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ApplicationIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** It logs each request that fails, as one is to. */
    private static final Logger TOMCAT = Logger.getLogger("org.apache");

    static {
        TOMCAT.setLevel(Level.OFF);
    }

    private final EmbeddedZooKeeper server;
    private final HttpClient http = HttpClient.newHttpClient();
    private ConfigurableApplicationContext shop;
    private Shop orders;
    private ZooKeeperClient client;

    @TempDir
    private Path folder;

    ApplicationIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Shop shop() {
            return new Shop();
        }

        @Bean
        Stock stock() {
            return new Stock();
        }
    }

    @RestController
    static class Stock {
        @GetMapping("/stock/{id}")
        @WithLock(value = "/orders/{#id}", waitAtMost = "0s")
        public String count(@PathVariable("id") String id) {
            return "one of " + id;
        }
    }

    @RestController
    static class Shop {
        private final CompletableFuture<Void> begun = new CompletableFuture<>();
        private final Semaphore mayEnd = new Semaphore(0);
        private final CompletableFuture<String> shipped = new CompletableFuture<>();
        private final CompletableFuture<String> refused = new CompletableFuture<>();

        @GetMapping("/ship/{id}")
        @WithLock("/orders/{#id}")
        public String ship(@PathVariable("id") String id) {
            begun.complete(null);
            mayEnd.acquireUninterruptibly();
            shipped.complete(id);
            return "shipped " + id;
        }

        @ExceptionHandler
        public String refuse(LockNotAcquiredException busy) {
            refused.complete(busy.getMessage());
            return "refused";
        }

        CompletableFuture<Void> begun() {
            return begun;
        }

        Semaphore mayEnd() {
            return mayEnd;
        }

        CompletableFuture<String> shipped() {
            return shipped;
        }

        CompletableFuture<String> refused() {
            return refused;
        }
    }

    @BeforeEach
    void start() throws Exception {
        Path credentials = Files.writeString(folder.resolve("credentials"), "digest:shop:a secret\n");
        shop = SpringApplication.run(
                Application.class,
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--spring.main.banner-mode=off",
                "--management.endpoints.web.exposure.include=*",
                "--management.endpoint.health.show-details=always",
                "--management.endpoint.env.show-values=always",
                "--management.endpoint.configprops.show-values=always",
                "--zkrecipes.connect-string=" + server.connectString(),
                "--zkrecipes.session-timeout=60s",
                "--zkrecipes.namespace=/shop",
                "--zkrecipes.auth-file=" + credentials,
                "--zkrecipes.acl=creator",
                "--zkrecipes.wait-at-most=1h",
                "--zkrecipes.label=shop-1");
        orders = shop.getBean(Shop.class);
        client = shop.getBean(ZooKeeperClient.class);
    }

    @AfterEach
    void stop() {
        orders.mayEnd().release(100);
        shop.close();
    }

    private CompletableFuture<HttpResponse<String>> ask(String path) {
        URI uri = URI.create("http://127.0.0.1:" + shop.getEnvironment().getProperty("local.server.port") + path);
        return http.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    private String get(String path) {
        return answer(ask("/actuator/" + path)).body();
    }

    /** Two applications start beside each other on a busy machine, and each look is a request. */
    private static ConditionFactory await() {
        return Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(50));
    }

    private static HttpResponse<String> answer(CompletableFuture<HttpResponse<String>> asked) {
        assertThat(asked).succeedsWithin(LIMIT);
        return asked.join();
    }

    /** Asks for the shipment of order 7. Its node is there before the method has the lock and begins. */
    private CompletableFuture<HttpResponse<String>> askAndBegin() {
        CompletableFuture<HttpResponse<String>> asked = ask("/ship/7");
        assertThat(orders.begun()).succeedsWithin(LIMIT);
        return asked;
    }

    private int nodes(String path) {
        return server.nodeExists(path) ? server.children(path).size() : 0;
    }

    @Test
    void application_showsItsLocks() throws InterruptedException {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("boot.version"));
        await().until(() -> get("health/zkrecipes").contains("\"status\":\"UP\""));
        CompletableFuture<HttpResponse<String>> first = askAndBegin();
        CompletableFuture<HttpResponse<String>> second = ask("/ship/7");
        await().until(() -> nodes("/shop/orders/7") == 2);

        assertThat(get("locks"))
                .contains("\"connection\":\"CONNECTED\"", "\"owner\":\"shop-1\"", "\"suspended\":[]")
                .containsPattern("\"held\":\\[\\{[^}]*\"path\":\"/shop/orders/7\"")
                .containsPattern("\"held\":\\[\\{[^}]*\"name\":\"Shop.ship\"")
                .containsPattern("\"held\":\\[\\{[^}]*\"seconds\":[0-9.]+")
                .containsPattern("\"waiting\":\\[\\{[^}]*\"path\":\"/shop/orders/7\"");
        assertThat(get("metrics/zkrecipes.lock.held?tag=name:Shop.ship&tag=kind:mutex"))
                .contains("\"value\":1.0");
        HttpResponse<String> busy = answer(ask("/stock/7"));
        assertThat(busy.statusCode()).isEqualTo(409);
        assertThat(busy.body()).doesNotContain("shop-1", "/orders");
        try (ZooKeeperClient stranger = TestClients.connect(server.connectString())) {
            assertThatThrownBy(() -> new InterProcessMutex(stranger, "/shop/orders/7").tryAcquire())
                    .isInstanceOf(LockAccessException.class);
        }
        assertThat(get("health/zkrecipes")).contains("\"held\":1", "\"suspended\":[]");

        server.stop();
        await().until(() -> get("health/zkrecipes").contains("\"suspended\":[\"/shop/orders/7\"]"));
        assertThat(get("health/zkrecipes")).contains("\"status\":\"DOWN\"", "\"connection\":\"SUSPENDED\"");
        server.restart();
        await().until(() -> get("health/zkrecipes").contains("\"status\":\"UP\""));

        orders.mayEnd().release(2);
        assertThat(answer(first).body()).isEqualTo("shipped 7");
        assertThat(answer(second).body()).isEqualTo("shipped 7");
        await().until(() -> get("locks").contains("\"held\":[]"));
        shop.getBean(LockRegistry.class).executeLocked("a key/of mine", () -> {
            assertThat(nodes("/shop/locks/integration/a+key%2Fof+mine")).isEqualTo(1);
            assertThat(get("metrics/zkrecipes.lock.held?tag=name:registry")).contains("\"value\":1.0");
        });
        assertThat(get("env") + get("configprops")).contains("shop-1").doesNotContain("a secret");
    }

    /**
     * Asks the methods how they ended, not HTTP: Tomcat counts a request as done before its answer is sent, so that a
     * web server that stops may close a connection without one.
     */
    @Test
    void application_endsWhatItDoes_beforeTheClientCloses() {
        int ofElections = shop.getBean(ElectionBeans.class).getPhase();
        assertThat(shop.getBeansOfType(SmartLifecycle.class).values())
                .filteredOn(bean -> bean.getClass().getSimpleName().startsWith("WebServer"))
                .as("stop before the elections, and one of them waits for requests")
                .hasSize(2)
                .allMatch(bean -> bean.getPhase() > ofElections);
        await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
        CompletableFuture<HttpResponse<String>> holds = askAndBegin();
        CompletableFuture<HttpResponse<String>> waits = ask("/ship/7");
        await().until(() -> nodes("/shop/orders/7") == 2);
        Thread closing = new Thread(shop::close);
        closing.start();
        assertThat(orders.refused())
                .as("told at once")
                .succeedsWithin(LIMIT)
                .asString()
                .contains("the lock /shop/orders/7 stayed busy", "the application is stopping");
        await().until(() -> nodes("/shop/orders/7") == 1);
        await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
        assertThat(holds).isNotDone();
        orders.mayEnd().release();
        await().until(() -> !closing.isAlive());
        assertThat(orders.shipped()).isCompletedWithValue("7");
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThat(nodes("/shop/orders/7")).isZero();
        await().until(() -> holds.isDone() && waits.isDone());
    }
}

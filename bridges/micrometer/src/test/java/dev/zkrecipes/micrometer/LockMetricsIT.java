// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.TimedTry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the meters show of locks on a real server, and that the dashboard asks for meters that there are. */
class LockMetricsIT extends ServerStage {
    private static final Path DASHBOARD = Path.of("../../docs/grafana/zkrecipes-locks.json");
    private static final Path RULES = Path.of("../../docs/grafana/zkrecipes-alerts.yml");
    private static final Pattern METRIC = Pattern.compile("\\bzkrecipes_[a-z_]+");
    private final MeterRegistry meters = new SimpleMeterRegistry();
    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private ZooKeeperClient client;
    private ZooKeeperClient other;

    @BeforeEach
    void connect() throws Exception {
        client = client(settings()
                .sessionTimeout(Duration.ofSeconds(20))
                .observer(new LockMetrics(meters))
                .observer(new LockMetrics(prometheus)));
        other = client();
    }

    private static InterProcessLock lock(ZooKeeperClient client, String path) {
        return new LockInternals(
                        client, path, new MutexDriver(), LockOptions.defaults().withName("orders"))
                .threadOwned();
    }

    private double gauge(String name) {
        return meters.get("zkrecipes.lock." + name)
                .tag("name", "orders")
                .gauge()
                .value();
    }

    private double count(String name) {
        return meters.get("zkrecipes.lock." + name)
                .tag("name", "orders")
                .counter()
                .count();
    }

    private long timed(String name, String outcome) {
        Timer timer = meters.find("zkrecipes.lock." + name)
                .tags("name", "orders", "kind", "mutex", "outcome", outcome)
                .timer();
        return timer == null ? 0 : timer.count(); // it comes with its first event
    }

    /** Goes through everything that a lock can do. */
    private void work(String path) throws Exception {
        InterProcessLock lock = lock(client, path);
        Lease lease = lock.acquire();
        assertThat(gauge("held")).isEqualTo(1);
        assertThat(gauge("waiting")).isZero();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        assertThat(gauge("waiting")).isEqualTo(1);
        lease.close();
        waiting.get(120, TimeUnit.SECONDS).closeAsync().get(120, TimeUnit.SECONDS);

        Lease theirs = lock(other, path).acquire();
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(TimedTry.on(lock)).isEmpty();
        theirs.close();

        Lease last = lock.acquire();
        CompletableFuture<Void> asked = new CompletableFuture<>();
        last.onRevocationRequested(request -> asked.complete(null));
        var unused = new Revoker(other).request(lock(other, path));
        asked.get(120, TimeUnit.SECONDS);
        await().until(() -> count("revocations") == 1);
        expire(client);
        await().until(() -> count("losses") == 1);
        await().until(() -> timed("hold", "lost") == 1);
        last.close();
    }

    @Test
    void meters_countWhatLocksDo() throws Exception {
        work("/meters/simple");
        assertThat(timed("wait", "granted")).isEqualTo(3);
        assertThat(timed("wait", "busy")).isEqualTo(1);
        assertThat(timed("wait", "timed_out")).isEqualTo(1);
        assertThat(timed("hold", "released")).isEqualTo(2);
        assertThat(count("timeouts")).isEqualTo(1);
        assertThat(gauge("held")).isZero();
        assertThat(gauge("waiting")).isZero();
        assertThat(meters.getMeters())
                .allSatisfy(meter -> assertThat(meter.getId().getTags().toString())
                        .as("a path is no tag")
                        .doesNotContain("/meters"));
    }

    @Test
    void dashboardAndRules_useOnlyMetersThatExist() throws Exception {
        work("/meters/prometheus");
        String scraped = scrape();
        Set<String> given = scraped.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("[{ ]", 2)[0])
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(metricsOf(DASHBOARD)).hasSizeGreaterThan(11);
        assertThat(metricsOf(RULES)).hasSizeGreaterThan(3);
        assertThat(given).containsAll(metricsOf(DASHBOARD)).containsAll(metricsOf(RULES));
    }

    /** As Prometheus does. */
    private String scrape() throws IOException, InterruptedException {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/metrics", exchange -> {
            byte[] answer = prometheus.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        http.start();
        try {
            URI address = URI.create("http://127.0.0.1:" + http.getAddress().getPort() + "/metrics");
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } finally {
            http.stop(0);
        }
    }

    @Test
    void clients_areCountedByState_untilTheyAreClosed() throws Exception {
        assertThat(clients("connected")).isEqualTo(1);
        try (FaultProxy proxy = proxy();
                ZooKeeperClient second = client(ZooKeeperClient.builder()
                        .connectString(proxy.connectString())
                        .observer(new LockMetrics(meters)))) {
            assertThat(clients("connected")).isEqualTo(2);
            proxy.refuse();
            await().until(() -> clients("suspended") == 1);
            assertThat(clients("connected")).isEqualTo(1);
            second.close();
            assertThat(clients("suspended")).isZero();
        }
        meters.clear();
        lock(client, "/meters/clients").acquire().close();
        assertThat(clients("connected")).isEqualTo(1);
    }

    private double clients(String state) {
        return meters.get("zkrecipes.clients").tag("state", state).gauge().value();
    }

    private static Set<String> metricsOf(Path dashboard) throws IOException {
        return METRIC.matcher(Files.readString(dashboard))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void names_areBounded() {
        MeterRegistry registry = new SimpleMeterRegistry();
        LockMetrics metrics = new LockMetrics(registry);
        for (int i = 0; i < LockMetrics.MOST + 100; i++) {
            metrics.onWaiting(new LockObserver.Request("/lock", Optional.of("name-" + i), "lock-"));
        }
        assertThat(registry.find("zkrecipes.lock.waiting").gauges()).hasSize(LockMetrics.MOST + 1);
        assertThat(registry.get("zkrecipes.lock.waiting")
                        .tag("name", "other")
                        .gauge()
                        .value())
                .isEqualTo(100);
        metrics.onWaiting(new LockObserver.Request("/lock", Optional.of("name-0"), "lock-"));
        assertThat(registry.get("zkrecipes.lock.waiting")
                        .tag("name", "name-0")
                        .gauge()
                        .value())
                .isEqualTo(2);
        metrics.onWaiting(new LockObserver.Request("/lock", Optional.empty(), "lock-"));
        assertThat(registry.find("zkrecipes.lock.waiting").gauges()).hasSize(LockMetrics.MOST + 1);
        registry.close();
    }
}

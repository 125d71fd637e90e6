// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.jfr.JfrLockObserver;
import dev.zkrecipes.micrometer.LockMetrics;
import dev.zkrecipes.micrometer.LockObservations;
import dev.zkrecipes.shedlock.ZooKeeperLockProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.function.Consumer;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggerConfiguration;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * The beans that exist only if {@code zkrecipes.enabled} is true, as by default: the client, and the beans that use it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "zkrecipes.enabled", matchIfMissing = true)
@Import({ElectionBeans.class, ElectionBeans.Registrar.class, LocksEndpoint.class})
final class LockBeans {
    private static final String ZOOKEEPER = "org.apache.zookeeper";

    @Bean
    @ConditionalOnMissingBean
    ZooKeeperConnectionDetails zooKeeperConnectionDetails(ZkRecipesProperties properties) {
        return properties::requireConnectString;
    }

    @Bean(destroyMethod = "")
    @ConditionalOnMissingBean
    ZooKeeperClient zooKeeperClient(
            ZkRecipesProperties properties,
            ZooKeeperConnectionDetails servers,
            ObjectProvider<SslBundles> bundles,
            ObjectProvider<LockObserver> observers,
            ObjectProvider<Consumer<ZooKeeperClientBuilder>> customizers,
            ObjectProvider<LoggingSystem> logs,
            FirstAndLast last) {
        logs.ifAvailable(LockBeans::quieten);
        ZooKeeperClientBuilder builder = ZooKeeperClient.builder();
        properties.set(
                builder,
                servers.getConnectString(),
                customizers.stream().findAny().isPresent());
        properties.setConfig(builder, bundles.getIfAvailable(DefaultSslBundleRegistry::new), last);
        observers.orderedStream().forEach(builder::observer);
        customizers.orderedStream().forEach(customizer -> customizer.accept(builder));
        ZooKeeperClient client = builder.build();
        last.addEnd(client::close);
        return client;
    }

    /**
     * Sets the log level of ZooKeeper's client to WARN, because it writes fifteen lines when it starts. A level set by
     * the application takes precedence.
     */
    private static void quieten(LoggingSystem logs) {
        LoggerConfiguration client = logs.getLoggerConfiguration(ZOOKEEPER);
        if (client == null || client.getConfiguredLevel() == null) {
            logs.setLogLevel(ZOOKEEPER, LogLevel.WARN);
        }
    }

    @Bean
    LocalLocks zkrecipesLocalLocks() {
        return new LocalLocks(System::nanoTime);
    }

    @Bean
    LockedCalls zkrecipesLockedCalls(ZooKeeperClient client, ZkRecipesProperties properties) {
        ZkRecipesProperties.check("wait-at-most", properties.waitAtMost(), LockedMethod::notNegative);
        return new LockedCalls(client, properties.waitAtMost());
    }

    @Bean
    @ConditionalOnBooleanProperty("zkrecipes.observers.jfr")
    @ConditionalOnMissingBean
    JfrLockObserver zkrecipesJfr() {
        return new JfrLockObserver();
    }

    @Bean
    @ConditionalOnBean(MeterRegistry.class)
    @ConditionalOnBooleanProperty(name = "zkrecipes.observers.metrics", matchIfMissing = true)
    @ConditionalOnMissingBean
    LockMetrics zkrecipesMetrics(MeterRegistry meters) {
        return new LockMetrics(meters);
    }

    @Bean
    @ConditionalOnBean(ObservationRegistry.class)
    @ConditionalOnBooleanProperty("zkrecipes.observers.observations")
    @ConditionalOnMissingBean
    LockObservations zkrecipesObservations(ObservationRegistry observations) {
        return new LockObservations(observations);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LockRegistry.class)
    static final class Integration {
        @Bean
        @ConditionalOnMissingBean(LockRegistry.class)
        IntegrationLocks lockRegistry(ZooKeeperClient client) {
            return new IntegrationLocks(client);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LockProvider.class)
    static final class ShedLock {
        @Bean
        @ConditionalOnMissingBean
        LockProvider lockProvider(ZooKeeperClient client) {
            return new ZooKeeperLockProvider(client, "/locks/jobs");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator")
    static final class HealthOfBoot3 {
        @Bean
        @ConditionalOnEnabledHealthIndicator("zkrecipes")
        HealthIndicator zkrecipesHealthIndicator(LocksEndpoint state) {
            return () -> (state.isUp() ? Health.up() : Health.down())
                    .withDetails(state.health())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator")
    static final class HealthOfBoot4 {
        @Bean
        @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator("zkrecipes")
        org.springframework.boot.health.contributor.HealthIndicator zkrecipesHealthIndicator(LocksEndpoint state) {
            return () -> (state.isUp()
                            ? org.springframework.boot.health.contributor.Health.up()
                            : org.springframework.boot.health.contributor.Health.down())
                    .withDetails(state.health())
                    .build();
        }
    }
}

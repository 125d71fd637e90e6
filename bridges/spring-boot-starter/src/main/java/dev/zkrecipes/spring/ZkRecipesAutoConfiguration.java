// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.jfr.JfrLockObserver;
import dev.zkrecipes.core.spi.LockNames;
import dev.zkrecipes.micrometer.LockMetrics;
import dev.zkrecipes.micrometer.LockObservations;
import dev.zkrecipes.mutex.InterProcessMutex;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.Objects;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Makes a {@link ZooKeeperClient} of the properties {@code zkrecipes.*}, unless the application has one, and what
 * stands on it: methods with {@link WithLock}, meters, health, the endpoint {@code locks}, a {@code LockRegistry} for
 * Spring Integration. Beans of the type {@link LockObserver} observe the client; those of the type {@code
 * Consumer<ZooKeeperClientBuilder>} may set what no property does, such as ACLs.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@EnableConfigurationProperties(ZkRecipesProperties.class)
public final class ZkRecipesAutoConfiguration {
    ZkRecipesAutoConfiguration() {}

    @Bean(destroyMethod = "")
    @ConditionalOnMissingBean
    ZooKeeperClient zooKeeperClient(
            ZkRecipesProperties properties,
            ObjectProvider<LockObserver> observers,
            ObjectProvider<Consumer<ZooKeeperClientBuilder>> customizers,
            FirstAndLast last) {
        return last.closes(properties.client(observers.orderedStream(), customizers.orderedStream()));
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

    /** It is made before all other beans, and so must not bring the client with it. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DefaultPointcutAdvisor zkrecipesAdvisor(Environment environment, ObjectProvider<LockedCalls> calls) {
        LockedMethods methods = new LockedMethods(environment::resolveRequiredPlaceholders);
        MethodInterceptor advice = call -> {
            Class<?> bean = Objects.requireNonNull(call.getThis()).getClass();
            return calls.getObject().run(call, methods.of(call.getMethod(), bean));
        };
        DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(methods, advice);
        // outside of transactions and caches, which have the lowest precedence unless the application says otherwise
        advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 1_000);
        return advisor;
    }

    @Bean
    static FirstAndLast zkrecipesFirstAndLast() {
        return new FirstAndLast();
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
        @ConditionalOnMissingBean
        @SuppressWarnings("rawtypes") // generic in Spring Integration 7
        LockRegistry lockRegistry(ZooKeeperClient client) {
            return key -> new InterProcessMutex(client, "/locks/integration/key-" + LockNames.nodeOf(key)).asLock();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static final class Actuator {
        @Bean
        @ConditionalOnAvailableEndpoint
        LocksEndpoint zkrecipesLocksEndpoint(ZooKeeperClient client, LocalLocks locks, LockedCalls calls) {
            return new LocksEndpoint(client, locks, calls);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator")
    static final class HealthOfBoot3 {
        @Bean
        @ConditionalOnEnabledHealthIndicator("zkrecipes")
        HealthIndicator zkrecipesHealthIndicator(ZooKeeperClient client, LocalLocks locks, LockedCalls calls) {
            LocksEndpoint state = new LocksEndpoint(client, locks, calls);
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
        org.springframework.boot.health.contributor.HealthIndicator zkrecipesHealthIndicator(
                ZooKeeperClient client, LocalLocks locks, LockedCalls calls) {
            LocksEndpoint state = new LocksEndpoint(client, locks, calls);
            return () -> (state.isUp()
                            ? org.springframework.boot.health.contributor.Health.up()
                            : org.springframework.boot.health.contributor.Health.down())
                    .withDetails(state.health())
                    .build();
        }
    }
}

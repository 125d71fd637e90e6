// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.Objects;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.Assert;

/**
 * Configures a {@link ZooKeeperClient} from the properties {@code zkrecipes.*}, unless the application has one, and the
 * features that use it: methods with {@link WithLock}, elections, meters, health, the endpoint {@code locks}, a
 * {@code LockRegistry} for Spring Integration, and a {@code LockProvider} for ShedLock. Beans of the type
 * {@link LockObserver} observe the client; beans of the type {@code Consumer<ZooKeeperClientBuilder>} may change
 * settings that have no property.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@EnableConfigurationProperties(ZkRecipesProperties.class)
@Import(LockBeans.class)
public final class ZkRecipesAutoConfiguration {
    ZkRecipesAutoConfiguration() {}

    /** Returns the advisor, which is created before all other beans. So it must not depend on the client directly. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DefaultPointcutAdvisor zkrecipesAdvisor(Environment environment, ObjectProvider<AnnotatedCalls> calls) {
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
    @ConditionalOnMissingBean
    AnnotatedCalls zkrecipesCallsWithoutLocks(ZkRecipesProperties properties) {
        ZkRecipesProperties.check("enabled", properties.enabled(), value -> Assert.isTrue(!value, "say true or false"));
        return AnnotatedCalls.withoutLocks(properties.ifDisabled());
    }
}

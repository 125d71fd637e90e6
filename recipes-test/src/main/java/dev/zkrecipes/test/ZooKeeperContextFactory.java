// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.DefaultSingletonBeanRegistry;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Finds test classes with {@link ZooKeeperInContext}. Spring's test framework creates this factory, if it is on the
 * class path.
 */
final class ZooKeeperContextFactory implements ContextCustomizerFactory {
    ZooKeeperContextFactory() {}

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configAttributes) {
        return TestContextAnnotationUtils.hasAnnotation(testClass, ZooKeeperInContext.class) ? new Server() : null;
    }

    /** Equal for all tests, so that they can share a context. */
    private record Server() implements ContextCustomizer {
        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
            EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
            Map<String, Object> address = Map.of("zkrecipes.connect-string", server.connectString());
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("the server of @ZooKeeperInContext", address));
            DefaultSingletonBeanRegistry beans = (DefaultSingletonBeanRegistry) context.getBeanFactory();
            beans.registerSingleton("embeddedZooKeeper", server);
            beans.registerDisposableBean("embeddedZooKeeper", server::close); // registered first, so closed last
        }
    }
}

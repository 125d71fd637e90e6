// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.util.ArrayDeque;
import java.util.Deque;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractAutoProxyCreator;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/**
 * Runs what must happen before other beans are created, and after they are destroyed; Spring creates this bean first,
 * before the processors of bean factories that have no order, and what those need. The client is closed here, because
 * an executor whose tasks call methods with {@link WithLock} does not depend on the client, but has to end before the
 * client closes.
 */
final class FirstAndLast implements BeanDefinitionRegistryPostProcessor, PriorityOrdered, DisposableBean {
    private final Deque<Runnable> ends = new ArrayDeque<>();

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    /**
     * Adds the checks that refuse annotated methods of beans without a proxy, and those that Spring calls past it, and
     * the listener of transactions, if Spring has any. Registers the creator of proxies even with {@code
     * spring.aop.auto=false}: a method that runs without its lock would be worse than one more proxy.
     */
    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        AbstractBeanFactory beans = (AbstractBeanFactory) registry;
        requireNoneIsMade(beans, registry);
        beans.addBeanPostProcessor(new BeanPostProcessor() {
            @Override
            public Object postProcessBeforeInitialization(Object bean, String name) {
                LockedMethods.requireNonePastTheProxy(bean.getClass());
                LockedMethods.requireNoneInAdvice(bean.getClass());
                if (!createsProxies(beans)) {
                    LockedMethods.requireNoneBeforeProxies(bean.getClass());
                }
                return bean;
            }

            /** Also sees what a factory makes, such as a repository. A scoped proxy finds its bean at each call. */
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (!(bean instanceof AopInfrastructureBean) && !createsProxies(beans)) {
                    LockedMethods.requireNoneBeforeProxies(bean.getClass());
                }
                return bean;
            }
        });
        if (CallHold.HAS_TRANSACTIONS) {
            beans.addBeanPostProcessor(new Transactions());
        }
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    }

    /**
     * Refuses the beans that other registry processors need. Spring creates all of those that have an order, with what
     * they need, before it calls the first of them, which is this one.
     */
    private static void requireNoneIsMade(AbstractBeanFactory beans, BeanDefinitionRegistry registry) {
        for (String name : beans.getSingletonNames()) {
            Object made = registry.containsBeanDefinition(name) ? beans.getSingleton(name) : null;
            if (made != null) {
                LockedMethods.requireNoneBeforeProxies(made.getClass());
            }
        }
    }

    /** Whether Spring creates proxies by now. Beans that its own first processors need are created earlier. */
    private static boolean createsProxies(AbstractBeanFactory beans) {
        return beans.getBeanPostProcessors().stream().anyMatch(AbstractAutoProxyCreator.class::isInstance);
    }

    /** Adds an action that runs after all other beans have been destroyed. The action added last runs first. */
    void addEnd(Runnable end) {
        ends.push(end);
    }

    @Override
    public void destroy() {
        ends.forEach(Runnable::run);
    }
}

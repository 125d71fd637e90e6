// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.util.ArrayDeque;
import java.util.Deque;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;

/**
 * What happens before other beans are made, and after they are destroyed, as Spring makes this one first. An executor
 * whose tasks call methods with {@link WithLock} does not know the client, and has to end before that closes.
 */
final class FirstAndLast implements BeanFactoryPostProcessor, DisposableBean {
    private final Deque<Runnable> ends = new ArrayDeque<>();

    /** Also with {@code spring.aop.auto=false}: a method without its lock would be worse than one proxy more. */
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        beans.addBeanPostProcessor(new BeanPostProcessor() {
            @Override
            public Object postProcessBeforeInitialization(Object bean, String name) {
                LockedMethods.requireNonePastTheProxy(bean.getClass());
                return bean;
            }
        });
        if (CallHold.HAS_TRANSACTIONS) {
            beans.addBeanPostProcessor(new Transactions());
        }
        AopConfigUtils.registerAutoProxyCreatorIfNecessary((BeanDefinitionRegistry) beans);
    }

    /** Adds what runs after all other beans are destroyed. What is added last runs first. */
    void addEnd(Runnable end) {
        ends.push(end);
    }

    @Override
    public void destroy() {
        ends.forEach(Runnable::run);
    }
}

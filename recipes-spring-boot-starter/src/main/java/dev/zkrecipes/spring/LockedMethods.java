// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.UnaryOperator;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/** Finds the methods with {@link WithLock}, as beans are made, and refuses those that cannot work. */
final class LockedMethods extends StaticMethodMatcherPointcut {
    private final ConcurrentMap<Method, LockedMethod> known = new ConcurrentHashMap<>();
    private final UnaryOperator<String> placeholders;

    LockedMethods(UnaryOperator<String> placeholders) {
        this.placeholders = placeholders;
        setClassFilter(bean -> AnnotationUtils.isCandidateClass(bean, WithLock.class));
    }

    @Override
    public boolean matches(Method method, Class<?> bean) {
        Method called = AopUtils.getMostSpecificMethod(method, bean);
        WithLock annotation = AnnotatedElementUtils.findMergedAnnotation(called, WithLock.class);
        if (annotation == null) {
            return false;
        }
        known.computeIfAbsent(called, each -> LockedMethod.of(each, bean, annotation, placeholders));
        return true;
    }

    LockedMethod of(Method method, Class<?> bean) {
        return Objects.requireNonNull(known.get(AopUtils.getMostSpecificMethod(method, bean)));
    }
}

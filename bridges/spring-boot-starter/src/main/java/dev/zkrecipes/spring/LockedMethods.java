// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Finds the methods with {@link WithLock} while beans are created, and refuses those that cannot work. */
final class LockedMethods extends StaticMethodMatcherPointcut {
    private static final List<String> PAST_THE_PROXY = List.of(
            "jakarta.annotation.PostConstruct",
            "jakarta.annotation.PreDestroy",
            "javax.annotation.PostConstruct",
            "javax.annotation.PreDestroy");

    /** The types of beans of which Spring makes no proxies; nor does it of those with {@link #ASPECT}. */
    private static final List<Class<?>> PARTS_OF_PROXIES =
            List.of(Advice.class, Pointcut.class, Advisor.class, AopInfrastructureBean.class);

    private static final String ASPECT = "org.aspectj.lang.annotation.Aspect";

    private final ConcurrentMap<MethodClassKey, LockedMethod> known = new ConcurrentHashMap<>();
    private final Set<Class<?>> read = ConcurrentHashMap.newKeySet(); // the beans of which every method was read
    private final UnaryOperator<String> placeholders;

    LockedMethods(UnaryOperator<String> placeholders) {
        this.placeholders = placeholders;
        setClassFilter(bean -> AnnotationUtils.isCandidateClass(bean, WithLock.class));
    }

    /**
     * Also reads all other methods of the bean, when the first annotated one is found: Spring asks no further then, and
     * never asks for those that a proxy cannot override.
     */
    @Override
    public boolean matches(Method method, Class<?> bean) {
        Class<?> owner = ClassUtils.getUserClass(bean);
        boolean isLocked = isLocked(method, owner);
        if (isLocked && !read.contains(owner)) {
            methodsOf(owner).forEach(each -> isLocked(each, owner));
            read.add(owner);
        }
        return isLocked;
    }

    private boolean isLocked(Method method, Class<?> owner) {
        Method called = called(method, owner);
        WithLock annotation = annotation(called, owner);
        if (annotation == null) {
            return false;
        }
        known.computeIfAbsent(
                new MethodClassKey(called, owner), any -> LockedMethod.of(called, owner, annotation, placeholders));
        return true;
    }

    /** Returns the methods of a bean at which Spring looks, unless it finds an annotated one earlier. */
    private static Stream<Method> methodsOf(Class<?> owner) {
        Stream<Class<?>> types = ClassUtils.getAllInterfacesForClassAsSet(owner).stream();
        return (Proxy.isProxyClass(owner) ? types : Stream.concat(Stream.of(owner), types))
                .flatMap(type -> Stream.of(ReflectionUtils.getAllDeclaredMethods(type)));
    }

    /**
     * Throws if Spring calls an annotated method of the bean before the proxy exists, or past it, and so without the
     * lock.
     */
    static void requireNonePastTheProxy(Class<?> bean) {
        refuse(
                bean,
                method -> isPastTheProxy(method, bean),
                "Spring calls this method when it makes or destroys the bean, without the lock: put the work into"
                        + " another bean's method, and call that");
    }

    /** Throws if the bean has an annotated method. Call this for a bean that Spring creates before any proxies. */
    static void requireNoneBeforeProxies(Class<?> bean) {
        refuse(
                bean,
                method -> true,
                "a BeanPostProcessor or BeanFactoryPostProcessor needs this bean, so Spring makes it too early for a"
                        + " proxy, and the method runs without the lock: let the processor need it later, with an"
                        + " ObjectProvider");
    }

    /** Throws if the bean has an annotated method, but no proxy because proxies are made of it. */
    static void requireNoneInAdvice(Class<?> bean) {
        if (PARTS_OF_PROXIES.stream().anyMatch(part -> part.isAssignableFrom(bean))
                || MergedAnnotations.from(bean, SearchStrategy.TYPE_HIERARCHY).isPresent(ASPECT)) {
            refuse(
                    bean,
                    method -> true,
                    "Spring makes no proxy of an aspect or advice, so the method runs without the lock: put the work"
                            + " into another bean's method, and call that");
        }
    }

    private static void refuse(Class<?> bean, Predicate<Method> isRefused, String why) {
        ReflectionUtils.doWithMethods(
                bean,
                method -> {
                    throw new IllegalStateException(
                            "@WithLock of " + bean.getSimpleName() + "." + method.getName() + ": " + why);
                },
                method -> AnnotatedElementUtils.hasAnnotation(method, WithLock.class) && isRefused.test(method));
    }

    private static boolean isPastTheProxy(Method method, Class<?> bean) {
        MergedAnnotations known = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return PAST_THE_PROXY.stream().flatMap(known::stream).anyMatch(each -> isRead(each.getSource()))
                || (InitializingBean.class.isAssignableFrom(bean)
                        && method.getName().equals("afterPropertiesSet")
                        && method.getParameterCount() == 0)
                || (DisposableBean.class.isAssignableFrom(bean)
                        && method.getName().equals("destroy")
                        && method.getParameterCount() == 0);
    }

    /** Whether Spring reads annotations there: it looks at the methods of classes, and at default methods. */
    private static boolean isRead(@Nullable Object source) {
        return source instanceof Method method
                && !(method.getDeclaringClass().isInterface() && Modifier.isAbstract(method.getModifiers()));
    }

    LockedMethod of(Method method, Class<?> bean) {
        Class<?> owner = ClassUtils.getUserClass(bean);
        return Objects.requireNonNull(known.get(new MethodClassKey(called(method, owner), owner)));
    }

    /**
     * Returns the bean's own method. For a bean that is a JDK proxy itself, such as a repository, returns the
     * interface's method, because the methods of the proxy are final.
     */
    private static Method called(Method method, Class<?> owner) {
        return Proxy.isProxyClass(owner) ? method : AopUtils.getMostSpecificMethod(method, owner);
    }

    /**
     * Returns the annotation of the method, or that of an interface which the bean implements but the class that
     * declares the method does not; null if there is none.
     */
    private static @Nullable WithLock annotation(Method called, Class<?> owner) {
        WithLock own = AnnotatedElementUtils.findMergedAnnotation(called, WithLock.class);
        if (own != null || called.getDeclaringClass() == owner) {
            return own;
        }
        return ClassUtils.getAllInterfacesForClassAsSet(owner).stream()
                .filter(type -> !type.isAssignableFrom(called.getDeclaringClass()))
                .flatMap(type -> Stream.of(ReflectionUtils.getAllDeclaredMethods(type)))
                .filter(each -> each.getName().equals(called.getName())
                        && argumentsOf(each, owner).equals(argumentsOf(called, owner)))
                .map(each -> AnnotatedElementUtils.findMergedAnnotation(each, WithLock.class))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns the types of the arguments, in which type variables are what they are for the bean, or are erased. */
    private static List<Class<?>> argumentsOf(Method method, Class<?> owner) {
        Class<?>[] erased = method.getParameterTypes();
        return IntStream.range(0, erased.length)
                .<Class<?>>mapToObj(
                        i -> ResolvableType.forMethodParameter(method, i, owner).resolve(erased[i]))
                .toList();
    }
}

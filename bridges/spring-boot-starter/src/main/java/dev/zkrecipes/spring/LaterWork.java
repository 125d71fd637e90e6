// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.lang.reflect.Type;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** Finds results whose work continues after the method has returned, and therefore without the method's lock. */
final class LaterWork {
    /** The types of such results that are on the class path. All types that Spring knows as reactive count, too. */
    private static final List<Class<?>> TYPES = present(
            "java.util.concurrent.Future",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Callable",
            "java.util.concurrent.Flow$Publisher",
            "java.util.stream.BaseStream",
            "java.util.Iterator",
            "java.util.Spliterator",
            "java.util.Enumeration",
            "org.reactivestreams.Publisher",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
            "org.springframework.web.servlet.function.AsyncServerResponse",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow");

    /** The type of results with a body, such as {@code ResponseEntity}. */
    private static final List<Class<?>> ENTITY = present("org.springframework.http.HttpEntity");

    private static final int DEPTH = 4;

    private LaterWork() {}

    private static List<Class<?>> present(String... names) {
        ClassLoader loader = LaterWork.class.getClassLoader();
        return Stream.of(names)
                .filter(name -> ClassUtils.isPresent(name, loader))
                .<Class<?>>map(name -> ClassUtils.resolveClassName(name, loader))
                .toList();
    }

    static boolean is(Class<?> type) {
        return TYPES.stream().anyMatch(later -> later.isAssignableFrom(type))
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    /**
     * Returns the class of a type, and those of its type arguments and array elements at any depth. For a wildcard or a
     * type variable without a bound, that is {@code Object}.
     */
    static Set<Class<?>> partsOf(ResolvableType type) {
        Set<Class<?>> parts = new LinkedHashSet<>();
        collect(type, parts, new HashSet<>());
        return parts;
    }

    private static void collect(ResolvableType type, Set<Class<?>> parts, Set<Type> seen) {
        if (!seen.add(type.getType())) {
            return; // a recursive type, such as Comparable of itself
        }
        parts.add(type.resolve(Object.class));
        if (type.isArray()) {
            collect(type.getComponentType(), parts, seen);
        }
        for (ResolvableType argument : type.getGenerics()) {
            collect(argument, parts, seen);
        }
    }

    /**
     * Returns the later work in a result: the result itself or, if its declared type does not show what it contains, a
     * part of it.
     */
    static Optional<Object> in(@Nullable Object result, boolean lookInside) {
        return find(result, lookInside ? DEPTH : 0).findFirst();
    }

    private static Stream<Object> find(@Nullable Object value, int depth) {
        if (value == null) {
            return Stream.empty();
        } else if (is(value.getClass())) {
            return Stream.of(value);
        }
        return depth == 0 ? Stream.empty() : inside(value).flatMap(each -> find(each, depth - 1));
    }

    /**
     * Returns the parts of a value. Looks only into collections of the JDK: iterating over another one may load its
     * elements from a database.
     */
    private static Stream<@Nullable Object> inside(Object value) {
        boolean isOfTheJdk = value.getClass().getClassLoader() == null;
        if (value instanceof Optional<?> optional) {
            return Stream.ofNullable(optional.orElse(null));
        } else if (value instanceof Object[] elements) {
            return Stream.of(elements);
        } else if (isOfTheJdk && value instanceof Collection<?> elements) {
            return Stream.of(elements.toArray());
        } else if (isOfTheJdk && value instanceof Map<?, ?> entries) {
            return Stream.of(entries.values().toArray());
        } else if (ENTITY.stream().anyMatch(type -> type.isInstance(value))) {
            return Stream.ofNullable(
                    PropertyAccessorFactory.forBeanPropertyAccess(value).getPropertyValue("body"));
        }
        return Stream.empty();
    }
}

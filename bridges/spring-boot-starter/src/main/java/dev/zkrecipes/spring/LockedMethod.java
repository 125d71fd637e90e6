// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockNames;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.util.Assert;

/**
 * A method with {@link WithLock}, checked and parsed once: the parts of its path, and the settings of its annotation.
 */
record LockedMethod(
        String name,
        Method method,
        List<Expression> path,
        @Nullable Duration waitAtMost,
        boolean skips,
        boolean looksInside,
        WithLock.Mode mode,
        LockOptions options) {
    private static final DefaultParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    private static final TemplateParserContext BRACES = new TemplateParserContext("{", "}");
    private static final Pattern VARIABLE = Pattern.compile("#[\\p{L}\\d_$]+");
    private static final Pattern QUOTED = Pattern.compile("'[^']*'|\"[^\"]*\"");

    /** Converts values to text as lock names require, also inside expressions such as {@code #shop + '-' + #day}. */
    private static final TypeConverter TEXTS = new StandardTypeConverter() {
        /** Of a value that cannot be converted, Spring's {@code +} would take what {@code toString} returns. */
        @Override
        public boolean canConvert(@Nullable TypeDescriptor from, TypeDescriptor to) {
            return to.getType() == String.class || super.canConvert(from, to);
        }

        @Override
        public @Nullable Object convertValue(@Nullable Object value, @Nullable TypeDescriptor from, TypeDescriptor to) {
            return value != null && to.getType() == String.class
                    ? LockNames.textOf(value)
                    : super.convertValue(value, from, to);
        }
    };

    /** Parses a method of a bean. Throws {@link IllegalStateException} if it can never do what its annotation says. */
    static LockedMethod of(Method method, Class<?> bean, WithLock annotation, UnaryOperator<String> placeholders) {
        Class<?> owner = Proxy.isProxyClass(bean) ? method.getDeclaringClass() : bean;
        String name = owner.getSimpleName() + "." + method.getName();
        Class<?> result = method.getReturnType();
        Set<Class<?>> returned = LaterWork.partsOf(ResolvableType.forMethodReturnType(method, owner));
        boolean skips = annotation.ifBusy() == WithLock.IfBusy.SKIP;
        try {
            Assert.isTrue(
                    (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0,
                    "a private, static or final method is called without the lock: make it overridable");
            Assert.isTrue(
                    isSeenFrom(owner, method),
                    "a method that only another package sees is called without the lock: make it protected or public");
            for (Class<?> part : returned) {
                Assert.isTrue(!LaterWork.is(part), () -> goesOn(part));
            }
            Assert.isTrue(!KotlinDetector.isSuspendingFunction(method), () -> goesOn(result));
            Assert.isTrue(
                    !skips || !result.isPrimitive() || result == void.class,
                    "a skipped call has no " + result.getSimpleName()
                            + " to return: return an Optional, a type that may be null, or void");
            String wait = placeholders.apply(annotation.waitAtMost());
            List<Expression> path = parse(placeholders.apply(annotation.value()));
            requireNames(method, owner, path);
            return new LockedMethod(
                    name,
                    method,
                    path,
                    wait.isEmpty() ? null : notNegative(DurationStyle.detectAndParse(wait)),
                    skips,
                    returned.contains(Object.class),
                    annotation.mode(),
                    options(name, placeholders.apply(annotation.holdAtMost())));
        } catch (RuntimeException e) {
            throw new IllegalStateException("@WithLock of " + name + ": " + e.getMessage());
        }
    }

    /** Whether a proxy, which is a subclass in the package of the bean, can override the method. */
    private static boolean isSeenFrom(Class<?> owner, Method method) {
        Class<?> declaring = method.getDeclaringClass();
        return (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
                || (declaring.getClassLoader() == owner.getClassLoader()
                        && declaring.getPackageName().equals(owner.getPackageName()));
    }

    private static String goesOn(Class<?> part) {
        return "its work goes on when it has returned " + part.getSimpleName()
                + " and the lock is released: return the result itself, or use acquireAsync()";
    }

    /**
     * Refuses variables that are not arguments, and arguments whose type never has a usable text. Values without one
     * are refused at the call.
     */
    private static void requireNames(Method method, Class<?> owner, List<Expression> path) {
        String[] names = NAMES.getParameterNames(method);
        Set<String> known = new TreeSet<>(List.of("#root", "#this"));
        for (int i = 0; i < method.getParameterCount(); i++) {
            Class<?> type = ResolvableType.forMethodParameter(method, i, owner).resolve(Object.class);
            List<String> called = List.of(names == null ? "#a" + i : "#" + names[i], "#a" + i, "#p" + i);
            known.addAll(called);
            for (Expression part : path) {
                Assert.isTrue(
                        LockNames.accepts(type)
                                || part instanceof LiteralExpression
                                || !called.contains(part.getExpressionString().strip()),
                        () -> "{" + part.getExpressionString() + "} is a " + type.getTypeName()
                                + ", which may have another text in another process: use a property of it that is a"
                                + " string or an integral number");
            }
        }
        for (Expression part : path) {
            String text = part.getExpressionString();
            boolean isFixed = part instanceof LiteralExpression;
            Assert.isTrue(!isFixed || !text.contains("#"), () -> text + " has \"#\" outside braces: write {#id}");
            VARIABLE.matcher(QUOTED.matcher(text).replaceAll(""))
                    .results()
                    .forEach(name -> Assert.isTrue(
                            known.contains(name.group()),
                            () -> "{" + text + "} is none of " + known + "; names need -parameters"));
        }
    }

    static Duration notNegative(Duration wait) {
        Assert.isTrue(!wait.isNegative(), () -> "the time to wait is negative: " + wait);
        return wait;
    }

    /**
     * Returns the options of the lock. Meters and logs identify the lock by the method, because there are few methods
     * and many paths.
     */
    private static LockOptions options(String name, String holdAtMost) {
        LockOptions named = LockOptions.defaults().withName(LockNames.meterNameOf(name));
        return holdAtMost.isEmpty() ? named : named.withHoldAtMost(DurationStyle.detectAndParse(holdAtMost));
    }

    boolean takesLease() {
        return List.of(method.getParameterTypes()).contains(Lease.class);
    }

    /** Passes the lease to each parameter of the type Lease, in place of whatever the caller has passed. */
    void passLease(MethodInvocation call, Lease lease) {
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (method.getParameterTypes()[i] == Lease.class) {
                call.getArguments()[i] = lease;
            }
        }
    }

    InterProcessLock lock(ZooKeeperClient client, String path) {
        return switch (mode) {
            case MUTEX -> new InterProcessMutex(client, path, options);
            case READ -> new InterProcessReadWriteLock(client, path, options).readLock();
            case WRITE -> new InterProcessReadWriteLock(client, path, options).writeLock();
        };
    }

    private static List<Expression> parse(String template) {
        Expression parsed = new SpelExpressionParser().parseExpression(template, BRACES);
        List<Expression> parts =
                parsed instanceof CompositeStringExpression all ? List.of(all.getExpressions()) : List.of(parsed);
        Assert.isTrue(
                parts.get(0) instanceof LiteralExpression
                        && parts.get(0).getExpressionString().startsWith("/"),
                () -> "the path \"" + template + "\" does not begin with a slash");
        return parts;
    }

    /** Returns the path for a call. Throws {@link IllegalArgumentException} if a value cannot be part of a path. */
    String path(MethodInvocation call) {
        StandardEvaluationContext values =
                new MethodBasedEvaluationContext(call.getThis(), method, call.getArguments(), NAMES);
        values.setTypeConverter(TEXTS);
        StringBuilder text = new StringBuilder();
        for (Expression part : path) {
            text.append(part instanceof LiteralExpression ? part.getExpressionString() : segment(part, values));
        }
        return text.toString();
    }

    /**
     * Returns the text of one part of the path. It must not be empty or contain a slash, which would lead to another
     * path.
     */
    private String segment(Expression part, EvaluationContext values) {
        String of = "@WithLock of " + name + ": {" + part.getExpressionString() + "}";
        String text;
        try {
            Object value = part.getValue(values);
            Assert.notNull(value, "it is null");
            text = LockNames.textOf(value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(of + ": " + e.getMessage(), e);
        }
        Assert.isTrue(!text.isEmpty(), () -> of + " is empty: it would be another path");
        Assert.isTrue(
                !text.contains("/"), () -> of + " is \"" + text + "\", which has a slash: it would be another path");
        return text;
    }

    /** Throws {@link IllegalStateException} if the work of a call continues without the lock. */
    void requireEnded(@Nullable Object result) {
        LaterWork.in(result, looksInside).ifPresent(later -> {
            throw new IllegalStateException("@WithLock of " + name + ": " + goesOn(later.getClass())
                    + ". The caller does not get it, but what it has begun may go on without the lock");
        });
    }

    /** Returns the result of a skipped call. */
    @Nullable
    Object skipped() {
        return method.getReturnType() == Optional.class ? Optional.empty() : null;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockOptions;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.stream.BaseStream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.Assert;

/** A method with {@link WithLock}, checked and read once: the parts of its path, and what its annotation says. */
record LockedMethod(
        String name,
        Method method,
        List<Expression> path,
        @Nullable Duration waitAtMost,
        boolean skips,
        LockOptions options) {
    private static final DefaultParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    private static final TemplateParserContext BRACES = new TemplateParserContext("{", "}");

    /** Whose work goes on when the method has returned and the lock is released. */
    private static final List<Class<?>> LATER =
            List.of(Future.class, CompletionStage.class, Flow.Publisher.class, Callable.class, BaseStream.class);

    /** Reads a method of a bean; throws {@link IllegalStateException} if it can never do what its annotation says. */
    static LockedMethod of(Method method, Class<?> bean, WithLock annotation, UnaryOperator<String> placeholders) {
        Class<?> owner = Proxy.isProxyClass(bean) ? method.getDeclaringClass() : bean;
        String name = owner.getSimpleName() + "." + method.getName();
        Class<?> result = method.getReturnType();
        boolean skips = annotation.ifBusy() == WithLock.IfBusy.SKIP;
        try {
            Assert.isTrue(
                    (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0,
                    "a private, static or final method is called without the lock: make it overridable");
            Assert.isTrue(
                    LATER.stream().noneMatch(type -> type.isAssignableFrom(result))
                            && ReactiveAdapterRegistry.getSharedInstance().getAdapter(result) == null
                            && !KotlinDetector.isSuspendingFunction(method),
                    "its work goes on when it has returned " + result.getSimpleName()
                            + " and the lock is released: return the result itself, or use acquireAsync()");
            Assert.isTrue(
                    !skips || !result.isPrimitive() || result == void.class,
                    "a skipped call has no " + result.getSimpleName()
                            + " to return: return an Optional, a type that may be null, or void");
            String wait = placeholders.apply(annotation.waitAtMost());
            return new LockedMethod(
                    name,
                    method,
                    parse(placeholders.apply(annotation.value())),
                    wait.isEmpty() ? null : notNegative(DurationStyle.detectAndParse(wait)),
                    skips,
                    LockOptions.defaults().withName(meterName(name)));
        } catch (RuntimeException e) {
            throw new IllegalStateException("@WithLock of " + name + ": " + e.getMessage());
        }
    }

    static Duration notNegative(Duration wait) {
        Assert.isTrue(!wait.isNegative(), () -> "the time to wait is negative: " + wait);
        return wait;
    }

    /** Meters and logs know the lock by it: there are few methods, and many paths. */
    private static String meterName(String name) {
        String plain = name.replaceAll("[^A-Za-z0-9._-]", "_");
        return plain.substring(Math.max(0, plain.length() - 80));
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

    /** The path for a call; throws {@link IllegalArgumentException} if a value has no place in it. */
    String path(MethodInvocation call) {
        EvaluationContext values = new MethodBasedEvaluationContext(call.getThis(), method, call.getArguments(), NAMES);
        StringBuilder text = new StringBuilder();
        for (Expression part : path) {
            text.append(part instanceof LiteralExpression ? part.getExpressionString() : segment(part, values));
        }
        return text.toString();
    }

    /** Part of one name, never more: a slash would lead to another path, and so would nothing. */
    private String segment(Expression part, EvaluationContext values) {
        Object value = part.getValue(values);
        String of = "@WithLock of " + name + ": {" + part.getExpressionString() + "} is ";
        if (value == null) {
            throw new IllegalArgumentException(of + "null. If it is an argument, compile with -parameters or use #a0");
        }
        Assert.isTrue(
                BeanUtils.isSimpleValueType(value.getClass()),
                () -> of + "a " + value.getClass().getName() + ", which may have another text in another process: name"
                        + " a property of it that is a string or a number");
        String text = value.toString();
        Assert.isTrue(!text.isEmpty(), () -> of + "empty: it would be another path");
        Assert.isTrue(!text.contains("/"), () -> of + "\"" + text + "\", which has a slash: it would be another path");
        return text;
    }

    /** What a call returns that is skipped. */
    @Nullable
    Object skipped() {
        return method.getReturnType() == Optional.class ? Optional.empty() : null;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** Makes locks that are broken in one way, and plays a suite with them. */
final class BrokenLock {
    private BrokenLock() {}

    /** Who may hold. */
    @FunctionalInterface
    interface Rule {
        Decision decide(List<LockNode> predecessors, LockNode self);
    }

    /** A driver that decides by any rule, on nodes of any kind. */
    record Ruled(String nodeName, Rule rule) implements LockDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "lock-")
                    .or(() -> LockNode.parse(childName, "read-"))
                    .or(() -> LockNode.parse(childName, "write-"))
                    .or(() -> LockNode.parseWithPayload(childName, "permits."));
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return rule.decide(predecessors, self);
        }
    }

    static Recipe.Maker decidingBy(Rule rule) {
        LockDriver driver = new Ruled("lock-", rule);
        return (client, path, options) -> new LockInternals(client, path, driver, options).threadOwned();
    }

    static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    static Object call(Object sound, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(sound, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    static Events play(Class<?> suite, String test, Class<?>... parameters) {
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(selectMethod(suite, test, parameters))
                .execute()
                .testEvents();
        assertThat(tests.started().count()).isPositive();
        return tests;
    }

    static void assertFound(Events tests, int times, String how) {
        tests.failed()
                .assertThatEvents()
                .hasSize(times)
                .are(event(finishedWithFailure(message(text -> text.contains(how)))));
    }

    /** Each of so many tests has passed. */
    static void assertSound(Events tests, int times) {
        tests.assertStatistics(statistics -> statistics.started(times).succeeded(times));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Passes an {@link EmbeddedZooKeeper} to JUnit tests. Instances have no state, so tests may run in parallel. */
final class ZooKeeperExtension implements ParameterResolver, BeforeEachCallback {
    private static final Namespace NAMESPACE = Namespace.create(ZooKeeperExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == EmbeddedZooKeeper.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        ExtensionContext topLevel = topLevelClassOf(context);
        EmbeddedZooKeeper server = topLevel.getStore(NAMESPACE)
                .computeIfAbsent(
                        EmbeddedZooKeeper.class, key -> settings(context).start(), EmbeddedZooKeeper.class);
        restartIfStopped(server);
        return server;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        EmbeddedZooKeeper server =
                topLevelClassOf(context).getStore(NAMESPACE).get(EmbeddedZooKeeper.class, EmbeddedZooKeeper.class);
        if (server != null) {
            restartIfStopped(server);
        }
    }

    private static void restartIfStopped(EmbeddedZooKeeper server) {
        synchronized (server) { // the monitor that restart() uses
            if (!server.isRunning()) {
                server.restart();
            }
        }
    }

    /**
     * Returns the context of the top-level class. JUnit closes the objects stored there after the last test of that
     * class.
     */
    private static ExtensionContext topLevelClassOf(ExtensionContext context) {
        ExtensionContext current = context;
        while (true) {
            ExtensionContext parent = current.getParent().orElse(current);
            if (parent.getTestClass().isEmpty()) {
                return current;
            }
            current = parent;
        }
    }

    /** Returns the annotation of the outermost class that has one. */
    private static Optional<WithZooKeeper> annotation(ExtensionContext context) {
        return context.getParent()
                .flatMap(ZooKeeperExtension::annotation)
                .or(() -> context.getTestClass()
                        .flatMap(type -> AnnotationSupport.findAnnotation(type, WithZooKeeper.class)));
    }

    private static EmbeddedZooKeeperBuilder settings(ExtensionContext context) {
        EmbeddedZooKeeperBuilder builder = EmbeddedZooKeeper.builder();
        annotation(context)
                .ifPresent(annotation -> builder.tickTime(Duration.ofMillis(annotation.tickTimeMillis()))
                        .minSessionTimeout(Duration.ofMillis(2L * annotation.tickTimeMillis()))
                        .containerCheckInterval(Duration.ofMillis(annotation.containerCheckMillis())));
        return builder;
    }
}

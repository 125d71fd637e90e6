// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * An application that works under two locks at once: in an annotated method until there is the file {@code stop}, and
 * under a lock of the registry for ever. What it has come to is a file.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class HoldingApplication {
    private static Path folder = Path.of("");

    /** Arguments: connect string, folder. */
    public static void main(String[] arguments) {
        folder = Path.of(arguments[1]);
        ConfigurableApplicationContext context = SpringApplication.run(
                HoldingApplication.class,
                "--spring.main.web-application-type=none",
                "--spring.main.banner-mode=off",
                "--spring.docker.compose.enabled=false", // it is on the class path, and asks for a file
                "--zkrecipes.connect-string=" + arguments[0],
                "--zkrecipes.session-timeout=60s",
                "--zkrecipes.close-timeout=10m");
        new Thread(() -> context.getBean(Orders.class).ship()).start();
        Lock ofRegistry = context.getBean(LockRegistry.class).obtain("key");
        new Thread(() -> {
                    ofRegistry.lock();
                    workUntil("never");
                })
                .start();
    }

    private static void workUntil(String name) {
        while (!Files.exists(folder.resolve(name))) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    private static void write(String name) {
        try {
            Files.createFile(folder.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static class Orders implements DisposableBean {
        @WithLock("/orders")
        public void ship() {
            write("working");
            workUntil("stop");
            write("shipped");
        }

        /** The client is closed next, after all beans. */
        @Override
        public void destroy() {
            write("closing");
        }
    }

    @Bean
    Orders orders() {
        return new Orders();
    }
}

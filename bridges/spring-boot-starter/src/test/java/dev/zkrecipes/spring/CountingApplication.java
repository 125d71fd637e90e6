// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.shedlock.ZooKeeperLockProvider;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * An application that counts in files: as the leader, in a job on a schedule, and in an annotated method. It reads a
 * number, is busy for a while, whatever interrupts it, and writes the next one, so two at once lose an increment. What
 * begins and ends is a line of a diary. It runs until SIGTERM.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "PT10M")
class CountingApplication {
    private static final Duration WORK = Duration.ofMillis(20);
    private static final Duration TERM = Duration.ofSeconds(5);
    private static final int CALLERS = 2;

    private static Path folder = Path.of("");

    /** Arguments: connect string, folder. */
    public static void main(String[] arguments) {
        folder = Path.of(arguments[1]);
        ConfigurableApplicationContext context = SpringApplication.run(
                CountingApplication.class,
                "--spring.main.web-application-type=none",
                "--spring.main.banner-mode=off",
                "--spring.docker.compose.enabled=false", // it is on the class path, and asks for a file
                "--zkrecipes.connect-string=" + arguments[0],
                "--zkrecipes.session-timeout=15s",
                "--zkrecipes.close-timeout=60s");
        inBackground(() -> lead(context.getBean(LeaderElection.class)));
        for (int i = 0; i < CALLERS; i++) {
            int caller = i;
            inBackground(() -> call(context, caller));
        }
    }

    private static void inBackground(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    /** A line such as {@code begins job 4711}: all processes append to one file, each line at once. */
    private static void write(String line) {
        try (FileOutputStream diary =
                new FileOutputStream(folder.resolve("diary").toFile(), true)) {
            diary.write((line + " " + ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void count(String what) {
        write("begins " + what);
        increment(what);
        write("ends " + what);
    }

    private static void increment(String what) {
        Path file = folder.resolve(what);
        try {
            long value = 0;
            if (file.toFile().exists()) {
                try (FileInputStream in = new FileInputStream(file.toFile())) {
                    value = Long.parseLong(new String(in.readAllBytes(), StandardCharsets.UTF_8));
                }
            }
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < WORK.toNanos()) {
                LockSupport.parkNanos(WORK.toNanos()); // returns at once if the thread is interrupted
            }
            try (FileOutputStream out = new FileOutputStream(file.toFile())) {
                out.write(String.valueOf(value + 1).getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        write("counts " + what);
    }

    private static void lead(LeaderElection election) {
        try {
            election.run(CountingApplication::leadFor);
        } catch (InterruptedException | LockException e) {
            write("leads-no-more " + e.getClass().getSimpleName());
        }
    }

    /** Leads for a while and returns, so that the leadership goes round, unless the term ends before. */
    private static void leadFor(Term term) throws InterruptedException {
        write("begins term");
        boolean stands = true;
        try {
            long begun = System.nanoTime();
            while (stands && System.nanoTime() - begun < TERM.toNanos()) {
                stands = false;
                if (term.awaitValid(Duration.ofMinutes(1))) {
                    increment("term");
                    TimeUnit.MILLISECONDS.sleep(
                            100); // stands for work that the interrupt at the end of a term cuts short
                    stands = true;
                }
            }
        } finally {
            if (!stands) {
                write("cuts term");
            }
            write("ends term");
        }
    }

    private static void call(ConfigurableApplicationContext context, int caller) {
        Methods methods = context.getBean(Methods.class);
        for (int i = caller; context.isActive(); i++) {
            try {
                methods.count(i % CALLERS);
            } catch (LockException e) {
                write("fails " + e.getClass().getSimpleName());
            }
            LockSupport.parkNanos(WORK.toNanos());
        }
    }

    static class Methods {
        @WithLock("/calls/{#id}")
        public void count(int id) {
            CountingApplication.count("call-" + id);
        }
    }

    @Bean
    Methods methods() {
        return new Methods();
    }

    static class Jobs {
        @Scheduled(fixedDelay = 50)
        @SchedulerLock(name = "count", lockAtLeastFor = "PT0.1S")
        public void count() {
            CountingApplication.count("job");
        }
    }

    @Bean
    Jobs jobs() {
        return new Jobs();
    }

    @Bean
    LockProvider lockProvider(ZooKeeperClient client) {
        return new ZooKeeperLockProvider(client, "/jobs");
    }

    @Bean
    LeaderElection election(ZooKeeperClient client) {
        return new LeaderElection(client, "/leader");
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.TestClients;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** An application with a job on a schedule, which writes into a file when it begins and ends. It runs until killed. */
@Configuration
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "PT10M")
class ScheduledProcess {
    static final Duration LEAST = Duration.ofMillis(400);

    private static Path diary = Path.of("");
    private static String connectString = "";
    private static volatile long askedAt;

    /** A line of the file; all processes of a machine have one monotonic clock. */
    record Line(String what, long process, long askedAt, long at) {
        static Line parse(String text) {
            String[] parts = text.split(" ", -1);
            return new Line(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]), Long.parseLong(parts[3]));
        }
    }

    /**
     * Starts it.
     *
     * @param arguments connect string, file
     */
    public static void main(String[] arguments) throws IOException {
        connectString = arguments[0];
        diary = Path.of(arguments[1]);
        var unused = new AnnotationConfigApplicationContext(ScheduledProcess.class);
        write("runs");
    }

    private static void write(String what) throws IOException {
        String line = what + " " + ProcessHandle.current().pid() + " " + askedAt + " " + System.nanoTime() + "\n";
        Files.writeString(diary, line, StandardOpenOption.APPEND);
    }

    @Bean
    ZooKeeperClient client() {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(TestClients.LONG_SESSION)
                .ownerLabel(String.valueOf(ProcessHandle.current().pid()))
                .build();
    }

    @Bean
    LockProvider lockProvider(ZooKeeperClient client) {
        ZooKeeperLockProvider provider = new ZooKeeperLockProvider(client, "/jobs");
        return configuration -> {
            long now = System.nanoTime();
            return provider.lock(configuration).map(lock -> {
                askedAt = now;
                return lock;
            });
        };
    }

    @Scheduled(fixedDelay = 50)
    @SchedulerLock(name = "report", lockAtLeastFor = "PT0.4S")
    void report() throws IOException, InterruptedException {
        write("begins");
        Thread.sleep(100); // stands for the work: jobs that took no time could not be seen to overlap
        write("ends");
    }
}

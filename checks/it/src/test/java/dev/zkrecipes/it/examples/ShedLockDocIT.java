// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.shedlock.ZooKeeperLockProvider;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** The code of {@code docs/shedlock.md}, and of the javadoc. */
@Timeout(600)
@WithZooKeeper
class ShedLockDocIT {
    private static final Path PROVIDER =
            Path.of("../../bridges/shedlock/src/main/java/dev/zkrecipes/shedlock/ZooKeeperLockProvider.java");
    private static final Pattern BLOCK = Pattern.compile("(?s)<pre>\\{@code\n(.*?)\\}</pre>");

    private static final List<String> DONE = new ArrayList<>();

    private static final Reports reports = () -> {
        LockAssert.assertLocked();
        DONE.add("written");
    };

    private interface Reports {
        void write();
    }

    @Configuration
    @EnableScheduling
    @EnableSchedulerLock(defaultLockAtMostFor = "PT1H")
    static class Jobs {
        @Bean
        LockProvider lockProvider(ZooKeeperClient client) {
            return new ZooKeeperLockProvider(client, "/locks/jobs");
        }

        @Scheduled(cron = "0 0 2 * * *")
        @SchedulerLock(name = "nightly-report", lockAtLeastFor = "PT1M")
        void nightlyReport() {
            reports.write();
        }
    }

    @Test
    void job_runsOnceForTheTimeThatItsLockIsKept(EmbeddedZooKeeper server) {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.registerBean(ZooKeeperClient.class, () -> ZooKeeperClient.connect(server.connectString()));
            context.register(Jobs.class);
            context.refresh();
            Jobs jobs = context.getBean(Jobs.class);
            jobs.nightlyReport();
            jobs.nightlyReport();
            assertThat(DONE).containsExactly("written");
            assertThat(server.children("/locks/jobs/nightly-report")).hasSize(1);
        }
        assertThat(server.children("/locks/jobs/nightly-report")).isEmpty();
    }

    @Test
    void exampleInJavadoc_isCodeOfThisTest() throws IOException {
        String mine =
                statements(Files.readString(Path.of("src/test/java/dev/zkrecipes/it/examples/ShedLockDocIT.java")));
        List<String> blocks = BLOCK.matcher(Files.readString(PROVIDER))
                .results()
                .map(block -> statements(block.group(1)))
                .toList();
        assertThat(blocks).isNotEmpty().allSatisfy(block -> assertThat(mine).contains(block));
    }

    private static String statements(String java) {
        Stream<String> lines = java.lines()
                .map(line -> line.replaceFirst("^ \\* ?", "")
                        .replaceFirst("static class", "class")
                        .strip());
        return String.join("\n", lines.filter(line -> !line.isEmpty()).toList());
    }
}

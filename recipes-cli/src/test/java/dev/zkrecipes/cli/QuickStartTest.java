// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuickStartTest {
    private static final String[] PLAIN = {"run", "--connect", "a:2181", "/a", "true"};
    private static final Set<String> USUAL = Set.of("java.home", "java.vm.name", "user.dir", "sun.jnu.encoding");

    @Test
    void plainRun_usesNeitherTlsNorSasl() {
        assertThat(QuickStart.isPlain(PLAIN, Map.of("ZKLOCK_CONNECT", "a:2181"), USUAL))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--config", "--config=client.properties"})
    void fileOnTheCommandLine_mayAskForThem(String option) {
        assertThat(QuickStart.isPlain(new String[] {"run", option, "/a", "true"}, Map.of(), USUAL))
                .isFalse();
    }

    @Test
    void fileInTheEnvironment_mayAskForThem() {
        assertThat(QuickStart.isPlain(PLAIN, Map.of("ZKLOCK_CONFIG", "client.properties"), USUAL))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"zookeeper.client.secure", "javax.net.ssl.trustStore", "java.security.auth.login.config"})
    void propertyOfTheJvm_mayAskForThem(String name) {
        assertThat(QuickStart.isPlain(PLAIN, Map.of(), Set.of("java.home", name)))
                .isFalse();
    }
}

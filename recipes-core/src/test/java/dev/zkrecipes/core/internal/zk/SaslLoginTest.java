// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag.REQUIRED;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginException;
import javax.security.auth.spi.LoginModule;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** However a login fails, it is reported: otherwise the client would wait for its end for ever. */
@ResourceLock("the JAAS configuration of the process")
class SaslLoginTest {
    private static Throwable thrown;

    /** A login module that throws what the test wants. */
    public static final class Broken implements LoginModule {
        @Override
        public void initialize(
                Subject subject, CallbackHandler callbacks, Map<String, ?> shared, Map<String, ?> options) {}

        @Override
        public boolean login() throws LoginException {
            if (thrown instanceof Error error) {
                throw error;
            }
            throw (LoginException) thrown;
        }

        @Override
        public boolean commit() {
            return false;
        }

        @Override
        public boolean abort() {
            return false;
        }

        @Override
        public boolean logout() {
            return false;
        }
    }

    private static Obstacle trouble(Throwable played, Map<String, ?> options) {
        thrown = played;
        Configuration.setConfiguration(new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return new AppConfigurationEntry[] {new AppConfigurationEntry(Broken.class.getName(), REQUIRED, options)
                };
            }
        });
        return new SaslLogin(null, List.of()).trouble().orElseThrow();
    }

    @AfterEach
    void restore() {
        Configuration.setConfiguration(null);
    }

    @Test
    @Tag("H277")
    void moduleThatThrowsAnError_isAnObstacle() {
        Obstacle found = trouble(new AssertionError("played"), Map.of());
        assertThat(found.kind()).isEqualTo(Obstacle.Kind.IDENTITY);
        assertThat(found.text()).contains("the SASL login failed").contains("played");
    }

    /** As is each name with an umlaut, where the locale of the process has none. */
    @Test
    @Tag("H277")
    void keytabWhoseNameIsNoPath_isNamed() {
        Obstacle found = trouble(new LoginException("no key"), Map.of("keyTab", "file:/etc/no\0path"));
        assertThat(found.kind()).isEqualTo(Obstacle.Kind.IDENTITY);
        assertThat(found.text()).contains("the SASL login failed: no key").contains("/etc/no");
    }

    /** As a configuration of another library does that lacks one of its classes. */
    @Test
    @Tag("H313")
    void configurationThatThrowsAnError_isAnObstacle() {
        Configuration.setConfiguration(new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                throw new NoClassDefFoundError("played");
            }
        });
        SaslLogin login = new SaslLogin(null, List.of());
        assertThat(login.isWanted()).isTrue(); // who connects without an identity creates nodes for everybody
        Obstacle found = login.trouble().orElseThrow();
        assertThat(found.kind()).isEqualTo(Obstacle.Kind.IDENTITY);
        assertThat(found.text()).contains("the JAAS configuration cannot be read: played");
    }
}

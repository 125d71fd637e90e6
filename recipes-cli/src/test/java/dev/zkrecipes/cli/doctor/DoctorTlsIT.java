// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.doctor;

import static dev.zkrecipes.cli.doctor.DoctorIT.doctor;
import static dev.zkrecipes.cli.doctor.DoctorIT.failed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.ClientProperties;
import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.SecurePort;
import dev.zkrecipes.test.TlsKeys;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** {@code zklock doctor} where TLS is in use, or should be. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ResourceLock("the secure port")
class DoctorTlsIT {
    @TempDir
    private Path folder;

    /** As the client does, which would wait for a session for ever. */
    @Test
    @Tag("H142")
    void serverCertificateThatTheClientRefuses_isNamed() throws Exception {
        TlsKeys clientKeys = TlsKeys.make(folder, "client");
        TlsKeys elsewhere = TlsKeys.signed(folder, "elsewhere", "-ext", "san=dns:other.example");
        TlsKeys expired = TlsKeys.signed(folder, "expired", "-startdate", "-3d");
        TlsKeys stranger = TlsKeys.make(folder, "stranger");
        clientKeys.trust(elsewhere, expired);
        assertServerRefused(elsewhere, clientKeys, "No subject alternative names");
        assertServerRefused(expired, clientKeys, "validity check failed");
        assertServerRefused(stranger, clientKeys, "PKIX path");
    }

    private void assertServerRefused(TlsKeys serverKeys, TlsKeys clientKeys, String why) throws Exception {
        serverKeys.trust(clientKeys);
        try (EmbeddedZooKeeper plain = EmbeddedZooKeeper.start();
                SecurePort port = plain.openSecurePort(serverKeys)) {
            Ran ran = doctor("--config", ClientProperties.of(clientKeys, port.connectString(), folder));
            assertThat(ran.code()).as(ran.out()).isEqualTo(69);
            assertThat(failed(ran))
                    .singleElement()
                    .asString()
                    .contains("the TLS handshake failed: ", why, "and the trust store the server's");
        }
    }

    @Test
    void tlsAndNoTls_areToldApart() throws Exception {
        TlsKeys serverKeys = TlsKeys.make(folder, "server");
        TlsKeys clientKeys = TlsKeys.make(folder, "client");
        serverKeys.trust(clientKeys);
        clientKeys.trust(serverKeys);
        try (EmbeddedZooKeeper plain = EmbeddedZooKeeper.start();
                SecurePort port = plain.openSecurePort(serverKeys)) {
            String config = ClientProperties.of(clientKeys, port.connectString(), folder);
            Ran ran = doctor("--config", config);
            assertThat(ran.code()).as(ran.out()).isZero();
            assertThat(ran.lines().get(1)).contains("standalone 3.", ", TLS, session in ");
            ran = doctor("--connect", port.connectString());
            assertThat(ran.code()).isEqualTo(69);
            assertThat(failed(ran))
                    .singleElement()
                    .asString()
                    .contains("speaks TLS, and this client does not: set zookeeper.client.secure");
            ran = doctor("--connect", plain.connectString(), "--config", config);
            assertThat(ran.code()).isEqualTo(69);
            assertThat(failed(ran))
                    .singleElement()
                    .asString()
                    .contains("speaks ZooKeeper without TLS, and this client uses TLS: use the server's port for TLS");
            TlsKeys expired = TlsKeys.signed(folder, "expired", "-startdate", "-3d");
            expired.trust(serverKeys);
            ran = Ran.zklock("doctor", "--config", ClientProperties.of(expired, port.connectString(), folder));
            assertThat(ran.code()).isEqualTo(69);
            assertThat(failed(ran))
                    .singleElement()
                    .asString()
                    .containsPattern("Received fatal alert: (bad_certificate|certificate_)");
            TlsKeys stranger = TlsKeys.make(folder, "stranger");
            stranger.trust(serverKeys);
            ran = doctor("--config", ClientProperties.of(stranger, port.connectString(), folder));
            assertThat(ran.code()).isEqualTo(69);
            assertThat(failed(ran))
                    .singleElement()
                    .asString()
                    .contains("the server must trust the certificate in the key store");
        }
    }
}

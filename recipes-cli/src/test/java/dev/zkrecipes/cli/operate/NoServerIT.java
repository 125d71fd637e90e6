// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** In a class of its own, for others to run while it waits. */
@Execution(ExecutionMode.CONCURRENT)
class NoServerIT {
    @Test
    void noServer_endsWith69() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            server.stop();
            Ran ran = Ran.zklock("ls", "--connect", server.connectString(), "/x");
            assertThat(ran.code()).isEqualTo(69);
            assertThat(ran.err())
                    .startsWith("zklock: no server of " + server.connectString() + " answered within 15.0 s: "
                            + server.connectString() + " refuses connections")
                    .hasLineCount(1);
            assertThat(ran.out()).isEmpty();
        }
    }

    @Test
    void serverThatAnswersNothing_endsWith69() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                FaultProxy proxy = FaultProxy.to(server)) {
            proxy.holdReply(RequestType.EXISTS, 1);
            Ran ran = Ran.zklock("ls", "--connect", proxy.connectString(), "/x");
            assertThat(ran.code()).isEqualTo(69);
            assertThat(ran.err())
                    .startsWith("zklock: a server of " + proxy.connectString()
                            + " gave a session and answered nothing for 10.0 s")
                    .hasLineCount(1);
        }
    }
}

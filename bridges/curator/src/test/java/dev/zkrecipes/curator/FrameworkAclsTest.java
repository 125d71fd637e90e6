// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class FrameworkAclsTest {

    private static final ACLProvider READ_ONLY_SECRETS = new ACLProvider() {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return path.equals("/app/secret") ? ZooDefs.Ids.READ_ACL_UNSAFE : getDefaultAcl();
        }
    };

    /** Curator makes the node of its namespace before any other; the engine's thread must not wait for that. */
    @Test
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void acl_isKnownWithoutAConnection_inANamespaceThatIsNotThere() {
        try (CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString("127.0.0.1:1")
                .namespace("app")
                .aclProvider(READ_ONLY_SECRETS)
                .retryPolicy(new RetryForever(100))
                .build()) {
            curator.start();
            assertThat(FrameworkAcls.of(curator).apply("/app/secret")).isEqualTo(ZooDefs.Ids.READ_ACL_UNSAFE);
            assertThat(FrameworkAcls.of(curator).apply("/app/open")).isEqualTo(ZooDefs.Ids.OPEN_ACL_UNSAFE);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a client over a CuratorFramework takes over from it. */
class CuratorSettingsIT extends ServerStage {
    private static final List<ACL> LOCAL = List.of(new ACL(ZooDefs.Perms.ALL, new Id("ip", "127.0.0.1")));

    private CuratorFrameworkFactory.Builder framework() {
        return CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .retryPolicy(new RetryOneTime(100));
    }

    private CuratorFramework start(CuratorFrameworkFactory.Builder settings) {
        CuratorFramework curator = opened(settings.build());
        curator.start();
        return curator;
    }

    private ZooKeeperClient client(CuratorFramework curator) {
        return opened(CuratorClients.over(curator));
    }

    @Test
    void frameworkNamespace_appliesToLocks() throws Exception {
        CuratorFramework curator = start(framework().namespace("shop"));
        InterProcessMutex ours = new InterProcessMutex(client(curator), "/locks/orders");
        var theirs = new org.apache.curator.framework.recipes.locks.InterProcessMutex(curator, "/locks/orders");
        assertThat(ours.path()).isEqualTo("/shop/locks/orders");
        Lease lease = ours.acquire();
        assertThat(server.children("/shop/locks/orders")).hasSize(1);
        assertThat(theirs.acquire(0, TimeUnit.SECONDS)).isFalse();
        lease.close();
        assertThat(theirs.acquire(120, TimeUnit.SECONDS)).isTrue();
        assertThat(ours.tryAcquire()).isEmpty();
        theirs.release();
    }

    @Test
    void namespaceView_isRefused_andTheFrameworkTakesItsNamespace() throws Exception {
        CuratorFramework curator = start(framework());
        CuratorFramework view = curator.usingNamespace("billing");
        assertThatThrownBy(() -> CuratorClients.over(view))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("settings.namespace(\"/billing\")");
        ZooKeeperClient client = CuratorClients.over(curator, settings -> settings.namespace("/billing"));
        opened(client);
        Lease lease = new InterProcessMutex(client, "/x").acquire();
        assertThat(new org.apache.curator.framework.recipes.locks.InterProcessMutex(view, "/x")
                        .acquire(0, TimeUnit.SECONDS))
                .isFalse();
        lease.close();
    }

    private static ACLProvider provider(@Nullable List<ACL> ofSecrets) {
        return new ACLProvider() {
            @Override
            public List<ACL> getDefaultAcl() {
                return ZooDefs.Ids.OPEN_ACL_UNSAFE;
            }

            @Override
            @SuppressWarnings("NullAway") // Curator takes the default then
            public List<ACL> getAclForPath(String path) {
                return path.startsWith("/app/secret/") ? ofSecrets : null;
            }
        };
    }

    @Test
    void aclProvider_receivesTheWholePath() throws Exception {
        CuratorFramework curator = start(framework().namespace("app").aclProvider(provider(LOCAL)));
        ZooKeeperClient client = client(curator);
        assertAcl(curator, client, "/secret/x", LOCAL);
        assertAcl(curator, client, "/open/x", ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    private void assertAcl(CuratorFramework curator, ZooKeeperClient client, String path, List<ACL> acl)
            throws Exception {
        try (Lease lease = new InterProcessMutex(client, path).acquire()) {
            Soon.await().until(lease::isValid);
            assertThat(curator.getACL().forPath(path)).isEqualTo(acl);
            String node = server.children("/app" + path).get(0);
            assertThat(curator.getACL().forPath(path + "/" + node)).isEqualTo(acl);
        }
    }

    @Test
    void lockAcl_overridesAclProvider() throws Exception {
        CuratorFramework curator = start(framework().aclProvider(provider(LOCAL)));
        List<ACL> own = List.of(new ACL(ZooDefs.Perms.ALL, new Id("ip", "127.0.0.0/8")));
        InterProcessMutex mutex = new InterProcessMutex(
                client(curator), "/app/secret/own", LockOptions.defaults().withAcl(own));
        mutex.acquire().close();
        assertThat(curator.getACL().forPath("/app/secret/own")).isEqualTo(own);
    }

    @Test
    void frameworkNotStarted_orClosed_isRefused() {
        CuratorFramework curator = framework().build();
        assertThatThrownBy(() -> CuratorClients.over(curator))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("LATENT")
                .hasMessageContaining("start it before");
        curator.start();
        curator.close();
        assertThatThrownBy(() -> CuratorClients.over(curator))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("STOPPED");
    }
}

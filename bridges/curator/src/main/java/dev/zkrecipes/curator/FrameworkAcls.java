// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.ClientClosedException;
import java.util.List;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.CreateRequest;

/**
 * Reads ACLs from a framework's {@code ACLProvider}. A framework does not expose its provider, but an operation that is
 * built and never committed contains the ACL that it would send.
 */
final class FrameworkAcls {
    private FrameworkAcls() {}

    /** Returns a function from paths to their ACLs. The paths include the namespace. The function sends nothing. */
    static Function<String, List<ACL>> of(CuratorFramework framework) {
        return path -> {
            CuratorOp create = createOf(framework, path);
            if (create.get().toRequestRecord() instanceof CreateRequest request) {
                return request.getAcl();
            }
            throw new IllegalStateException("this version of Curator creates nodes in another way than 5.9; name the"
                    + " ACL yourself, with CuratorClients.over(framework, settings -> settings.aclByPath(...))");
        };
    }

    private static CuratorOp createOf(CuratorFramework framework, String path) {
        try {
            return framework
                    .usingNamespace(null) // otherwise Curator would create the namespace's node now, and wait for it
                    .transactionOp()
                    .create()
                    .withMode(CreateMode.PERSISTENT)
                    .forPath(path);
        } catch (RuntimeException e) {
            if (framework.getState() == CuratorFrameworkState.STOPPED) {
                ClientClosedException closed = new ClientClosedException("the CuratorFramework is closed, and the"
                        + " ZooKeeperClient over it with it, so there can be no lock " + path + "; make new ones");
                closed.initCause(e);
                throw closed;
            }
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("the CuratorFramework does not say which ACL " + path + " has", e);
        }
    }
}

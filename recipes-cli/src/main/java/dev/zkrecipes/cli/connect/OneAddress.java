// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.zookeeper.client.HostProvider;

/** Keeps a handle on one address. ZooKeeper's own provider connects to any address of a name. */
record OneAddress(InetSocketAddress address) implements HostProvider {
    @Override
    public int size() {
        return 1;
    }

    @Override
    public InetSocketAddress next(long spinDelay) {
        return address;
    }

    @Override
    public void onConnected() {
        // There is no other address to choose next time.
    }

    @Override
    public boolean updateServerList(Collection<InetSocketAddress> serverAddresses, InetSocketAddress current) {
        return false;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import picocli.CommandLine.IVersionProvider;

/** What {@code zklock --version} prints. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String built = ZkLock.class.getPackage().getImplementationVersion();
        return new String[] {
            "zklock " + (built == null ? "(not from a jar)" : built),
            "ZooKeeper client " + org.apache.zookeeper.Version.getVersion() + ", Java " + Runtime.version()
        };
    }
}

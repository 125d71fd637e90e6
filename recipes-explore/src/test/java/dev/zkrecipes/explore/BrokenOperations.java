// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.spi.port.ForwardingOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;

/** Passes everything on; what is broken in it, a subclass says. */
class BrokenOperations implements ForwardingOperations {
    final ZooKeeperOperations sound;

    BrokenOperations(ZooKeeperOperations sound) {
        this.sound = sound;
    }

    @Override
    public ZooKeeperOperations inner() {
        return sound;
    }
}

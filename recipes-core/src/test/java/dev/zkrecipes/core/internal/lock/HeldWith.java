// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.node.Held;
import java.lang.reflect.Proxy;

/** Something held to whose release something happens first. No mock: Mockito makes each call of a Held take memory. */
final class HeldWith {
    private HeldWith() {}

    static Held beforeRelease(Held held, Runnable first) {
        return (Held) Proxy.newProxyInstance(
                HeldWith.class.getClassLoader(), new Class<?>[] {Held.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("release")) {
                        first.run();
                    }
                    return method.invoke(held, arguments);
                });
    }
}

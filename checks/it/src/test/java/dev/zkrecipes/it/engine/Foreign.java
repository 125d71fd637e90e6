// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import com.google.common.reflect.AbstractInvocationHandler;
import com.google.common.reflect.Reflection;
import dev.zkrecipes.core.InterProcessLock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** An opaque lock, like one of another library. */
final class Foreign extends AbstractInvocationHandler {
    private final InterProcessLock behind;

    private Foreign(InterProcessLock behind) {
        this.behind = behind;
    }

    static InterProcessLock of(InterProcessLock behind) {
        return Reflection.newProxy(InterProcessLock.class, new Foreign(behind));
    }

    @Override
    protected Object handleInvocation(Object proxy, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(behind, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}

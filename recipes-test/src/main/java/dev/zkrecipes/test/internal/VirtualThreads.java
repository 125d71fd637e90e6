// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.ThreadFactory;

/** Virtual threads, found by reflection: this code is compiled for a JDK that has none. */
final class VirtualThreads {
    private static final int FIRST_JDK = 21;

    private VirtualThreads() {}

    static boolean exist() {
        return Runtime.version().feature() >= FIRST_JDK;
    }

    static ThreadFactory factory() {
        if (!exist()) {
            throw new UnsupportedOperationException("JDK " + Runtime.version().feature()
                    + " has no virtual threads; ask Workers.hasVirtualThreads() first");
        }
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Method factory = Class.forName("java.lang.Thread$Builder").getMethod("factory");
            return (ThreadFactory) factory.invoke(builder);
        } catch (NoSuchMethodException
                | ClassNotFoundException
                | IllegalAccessException
                | InvocationTargetException e) {
            throw new UnsupportedOperationException("cannot make virtual threads on this JDK", e);
        }
    }
}

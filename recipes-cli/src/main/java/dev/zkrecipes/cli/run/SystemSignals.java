// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.IntConsumer;

/**
 * {@code sun.misc.Signal} of the module {@code jdk.unsupported}, by reflection: the compiler warns of it in a way that
 * cannot be silenced. In a JVM without it, signals end zklock as usual.
 */
final class SystemSignals {
    private SystemSignals() {}

    /**
     * Handles a signal on a thread of the JVM. A signal that zklock was started to ignore stays ignored.
     *
     * @param name without SIG
     * @param handler gets the number of the signal
     */
    static void handle(String name, IntConsumer handler) {
        try {
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object signal = signalType.getConstructor(String.class).newInstance(name);
            int number = (int) signalType.getMethod("getNumber").invoke(signal);
            InvocationHandler call = (proxy, method, arguments) -> {
                if (!method.getName().equals("handle")) {
                    return method.getName().equals("equals") ? (Object) (proxy == arguments[0]) : "handler";
                }
                handler.accept(number);
                return null;
            };
            Object proxy = Proxy.newProxyInstance(handlerType.getClassLoader(), new Class<?>[] {handlerType}, call);
            signalType.getMethod("handle", signalType, handlerType).invoke(null, signal, proxy);
        } catch (ReflectiveOperationException e) {
            // This JVM or this system does not know the signal, or keeps it to itself.
        }
    }
}

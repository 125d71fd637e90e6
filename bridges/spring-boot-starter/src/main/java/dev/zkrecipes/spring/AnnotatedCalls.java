// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Runs annotated methods: under their locks or, if the starter is disabled, as the application has chosen. */
@FunctionalInterface
interface AnnotatedCalls {
    @Nullable
    Object run(MethodInvocation call, LockedMethod method) throws Throwable;

    /** How methods with {@link WithLock} behave while {@code zkrecipes.enabled} is false. */
    enum IfDisabled {
        /** A call fails with an exception that names the reason. */
        REFUSE,
        /** A call runs without its lock. */
        RUN
    }

    /** Returns the calls of an application without locks, and logs one warning that there are none. */
    static AnnotatedCalls withoutLocks(IfDisabled choice) {
        boolean runs = choice == IfDisabled.RUN;
        String how = runs ? "run without their locks" : "are refused";
        LoggerFactory.getLogger(AnnotatedCalls.class)
                .warn("zkrecipes.enabled is false: methods with @WithLock {}.", how);
        return (call, method) -> {
            if (runs && !method.takesLease()) {
                return call.proceed();
            }
            throw new IllegalStateException(
                    method.name() + " was not run: zkrecipes.enabled is false, so it has no lock."
                            + " With zkrecipes.if-disabled=run methods run, but none with an argument for the lease");
        };
    }
}

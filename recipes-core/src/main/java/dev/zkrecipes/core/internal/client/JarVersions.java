// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import com.google.common.util.concurrent.MoreExecutors;
import dev.zkrecipes.core.LockException;
import java.security.CodeSource;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the jars are not older than this library works with. The build of an application may select older ones,
 * which would show up as a missing method in the middle of an acquire. So the versions are checked when a client is
 * created. A jar that is new enough is recognized by a method that the oldest supported version has introduced.
 * {@code LinkageTest} proves that the oldest versions have everything that is called.
 *
 * <p>The methods are called, not looked up by name, because a native image would need configuration for such a lookup.
 */
public final class JarVersions {
    static final String OLDEST_ZOOKEEPER = "3.6.0"; // the first with reads in a multi

    static final String OLDEST_GUAVA = "23.3";

    private JarVersions() {}

    /** Throws a {@link LockException} if something on the class path is too old. */
    public static void require() {
        require("ZooKeeper client", OLDEST_ZOOKEEPER, Op.class, () -> Op.getChildren("/"));
        require("Guava", OLDEST_GUAVA, MoreExecutors.class, () -> MoreExecutors.newSequentialExecutor(Runnable::run));
    }

    private static void require(String what, String oldest, Class<?> owner, Supplier<?> method) {
        try {
            Object unused = method.get();
        } catch (NoSuchMethodError e) {
            throw new LockException(
                    "the " + what + " on the class path, " + jarOf(owner) + ", is older than " + oldest
                            + ", the oldest version that this library works with: let the build choose a newer one",
                    e);
        }
    }

    private static String jarOf(Class<?> type) {
        @Nullable CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null || source.getLocation() == null
                ? "of unknown origin"
                : source.getLocation().toString();
    }
}

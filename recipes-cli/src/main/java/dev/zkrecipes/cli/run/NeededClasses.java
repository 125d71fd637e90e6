// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.IOException;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Loads all classes that may be needed to hold, lose and release a lock. They are loaded before the lock is held,
 * because an installation may overwrite {@code zklock.jar} while a command runs. A class that is first used after
 * that could no longer be loaded, and the keeper would fail.
 *
 * <p>This daemon thread loads the classes while the main thread connects, so that the start takes no longer.
 */
final class NeededClasses extends Thread {
    private static final String CLASS = ".class";
    private static final String ZOOKEEPER = "org/apache/zookeeper/";
    private static final List<String> FOLDERS = List.of(
            "dev/zkrecipes/core/",
            "dev/zkrecipes/mutex/",
            "dev/zkrecipes/rwlock/",
            "dev/zkrecipes/semaphore/",
            "dev/zkrecipes/multilock/",
            "dev/zkrecipes/cli/connect/",
            "dev/zkrecipes/cli/run/",
            "dev/zkrecipes/cli/text/",
            "org/apache/jute/",
            ZOOKEEPER + "client/",
            ZOOKEEPER + "data/",
            ZOOKEEPER + "proto/",
            ZOOKEEPER + "server/watch/PathParentIterator",
            ZOOKEEPER + "server/ZooTrace",
            "picocli/CommandLine$I", // the interfaces that picocli looks for in a command that has ended
            "com/google/common/base/Strings",
            "com/google/common/base/Throwables",
            "com/google/common/collect/Iter",
            "com/google/common/math/LongMath",
            "com/google/common/util/concurrent/Uninterruptibles");
    private static final List<String> FOLDERS_OF_TLS = List.of(
            "io/netty/buffer/", "io/netty/channel/", "io/netty/handler/ssl/", "io/netty/util/", ZOOKEEPER + "common/");

    // ZooKeeper's client speaks TLS only with Netty.
    private final boolean tls =
            System.getProperty("zookeeper.clientCnxnSocket", "").contains("Netty");

    private NeededClasses() {
        super("loads classes");
        setDaemon(true);
    }

    /** Starts to load. The returned thread must have ended before the lock is requested. */
    static Thread load() {
        Thread loading = new NeededClasses();
        loading.start();
        return loading;
    }

    @Override
    public void run() {
        try (JarFile jar = new JarFile(System.getProperty("java.class.path", ""))) {
            for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements(); ) {
                String name = all.nextElement().getName();
                if (name.endsWith(CLASS) && isNeeded(name)) {
                    load(name.substring(0, name.length() - CLASS.length()).replace('/', '.'));
                }
            }
        } catch (IOException e) {
            // zklock does not run from a jar, so no installation replaces one.
        }
    }

    private boolean isNeeded(String name) {
        boolean isClientItself = name.startsWith(ZOOKEEPER) && name.indexOf('/', ZOOKEEPER.length()) < 0;
        return isClientItself || isIn(FOLDERS, name) || (tls && isIn(FOLDERS_OF_TLS, name));
    }

    /** Whether a class is in one of these folders. Uses a loop, because the classes of streams take long to load. */
    private static boolean isIn(List<String> folders, String name) {
        for (String folder : folders) {
            if (name.startsWith(folder)) {
                return true;
            }
        }
        return false;
    }

    private static void load(String name) {
        try {
            Class.forName(name, false, NeededClasses.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            // The class needs an optional library, which zklock does not have.
        }
    }
}

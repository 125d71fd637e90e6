// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import com.google.common.base.Preconditions;
import java.util.Objects;
import org.apache.zookeeper.common.PathUtils;

/** Checks and composes absolute paths. */
public final class LockPath {
    private LockPath() {}

    /**
     * Returns the path, or refuses it: relative, a trailing slash, empty parts, {@code .}, {@code ..}, NUL and so on.
     */
    public static String check(String path) {
        return check(path, "lock path");
    }

    /** {@code what} is what a message calls it. */
    public static String check(String path, String what) {
        Objects.requireNonNull(path, "path");
        try {
            PathUtils.validatePath(path);
        } catch (IllegalArgumentException e) {
            String reason = String.valueOf(e.getMessage()).replaceFirst("(?s)Invalid path string .* caused by ", "");
            throw new IllegalArgumentException(
                    "bad " + what + " \"" + Printable.of(path) + "\": " + Printable.of(reason), e);
        }
        Preconditions.checkArgument(
                path.codePoints().allMatch(Printable::isPlain),
                "bad %s \"%s\": it contains a character that cannot be shown, such as a control character",
                what,
                Printable.of(path));
        return path;
    }

    // What each acquire joins is joined without +: at its first use of + with strings a JVM makes classes, for which a
    // command that takes one lock and ends would have to wait.

    public static String child(String parent, String name) {
        return String.join("/", parent.equals("/") ? "" : parent, name);
    }

    /** The path of a child with a name of two parts, in one step. */
    public static String child(String parent, String id, String name) {
        return String.join("", parent.equals("/") ? "" : parent, "/", id, "-", name);
    }

    public static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    public static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }
}

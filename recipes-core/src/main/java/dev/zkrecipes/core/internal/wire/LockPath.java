// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import com.google.common.base.Preconditions;
import java.util.Objects;
import org.apache.zookeeper.common.PathUtils;

/** Checks, composes and splits absolute paths. */
public final class LockPath {
    private LockPath() {}

    /**
     * Returns the path. Throws an IllegalArgumentException if it is relative, ends in a slash, has an empty part,
     * {@code .} or {@code ..}, or contains a character that ZooKeeper refuses or a log cannot show.
     */
    public static String check(String path) {
        return check(path, "lock path");
    }

    /** Checks a path, which messages call {@code what}. */
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

    /** Whether {@link #check} accepts the path. */
    public static boolean isValid(String path) {
        try {
            check(path);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    // Code that an acquire runs joins strings without the + operator. The JVM generates classes at the first use of +
    // with strings, and a command that takes one lock and exits would have to wait for that.

    public static String child(String parent, String name) {
        return String.join("/", parent.equals("/") ? "" : parent, name);
    }

    /** Returns the path of a child whose name consists of an id and a name, composed in one step. */
    public static String child(String parent, String id, String name) {
        return String.join("", parent.equals("/") ? "" : parent, "/", id, "-", name);
    }

    public static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Returns the parent of a path other than the root. */
    public static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }
}

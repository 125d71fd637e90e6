// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The files of the project that somebody wrote. In the other folders, files come and go during a build. */
final class HouseFiles {
    static final Path HOUSE = Path.of("../..");
    private static final Set<Path> OTHERS = Set.of(Path.of("target"), Path.of(".git"));

    private HouseFiles() {}

    /** Returns the files whose path matches the regular expression. */
    static List<Path> matching(String regex) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(HOUSE, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return OTHERS.contains(folder.getFileName()) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().matches(regex)) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}

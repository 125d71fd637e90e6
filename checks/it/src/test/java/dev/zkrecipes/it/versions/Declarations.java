// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** What jars declare, read without loading a class of them. */
final class Declarations {
    private final Map<String, Declared> types = new HashMap<>();

    /** The members of one class, each as its name and descriptor, and what it inherits from. */
    private record Declared(Set<String> members, List<String> parents) {}

    Declarations(List<Path> jars) throws IOException {
        for (Path path : jars) {
            try (JarFile jar = new JarFile(path.toFile())) {
                for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements(); ) {
                    JarEntry entry = all.nextElement();
                    if (entry.getName().endsWith(".class")) {
                        try (InputStream bytes = jar.getInputStream(entry)) {
                            new ClassReader(bytes).accept(new Reader(), ClassReader.SKIP_CODE);
                        }
                    }
                }
            }
        }
    }

    /** Whether the class that declares this, or one that it inherits from, is here and has it. */
    boolean have(String reference) {
        int dot = reference.indexOf('.');
        return have(reference.substring(0, dot), reference.substring(dot + 1));
    }

    private boolean have(String type, String member) {
        Declared declared = types.get(type);
        if (declared == null) {
            return type.startsWith("java/") && haveInJdk(type, member);
        }
        return declared.members().contains(member)
                || declared.parents().stream().anyMatch(parent -> have(parent, member));
    }

    /** By its name: the JDK is the same for all versions. */
    private static boolean haveInJdk(String type, String member) {
        try {
            return Stream.of(Class.forName(type.replace('/', '.')).getMethods())
                    .anyMatch(method -> member.startsWith(method.getName() + "("));
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private final class Reader extends ClassVisitor {
        private final Set<String> members = new HashSet<>();

        Reader() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(
                int version,
                int access,
                String name,
                @Nullable String signature,
                String superName,
                String[] interfaces) {
            types.put(
                    name,
                    new Declared(
                            members,
                            Stream.concat(Stream.of(superName), Stream.of(interfaces))
                                    .toList()));
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access, String name, String descriptor, @Nullable String signature, String @Nullable [] thrown) {
            members.add(name + descriptor);
            return null;
        }

        @Override
        public @Nullable FieldVisitor visitField(
                int access, String name, String descriptor, @Nullable String signature, @Nullable Object value) {
            members.add(name + descriptor);
            return null;
        }
    }
}

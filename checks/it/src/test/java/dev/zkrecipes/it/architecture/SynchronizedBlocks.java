// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Finds synchronized blocks, which leave a trace only in the byte code. */
final class SynchronizedBlocks {
    private SynchronizedBlocks() {}

    /** Returns the methods of {@code javaClass} that enter a monitor. */
    static Set<String> of(JavaClass javaClass) {
        Set<String> methods = new TreeSet<>();
        try (InputStream bytes =
                javaClass.getSource().orElseThrow().getUri().toURL().openStream()) {
            new ClassReader(bytes).accept(new Finder(methods), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return methods;
    }

    private static final class Finder extends ClassVisitor {
        private final Set<String> found;

        Finder(Set<String> found) {
            super(Opcodes.ASM9);
            this.found = found;
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String method, String descriptor, String signature, String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9) {
                @Override
                public void visitInsn(int opcode) {
                    if (opcode == Opcodes.MONITORENTER) {
                        found.add(method);
                    }
                }
            };
        }
    }
}

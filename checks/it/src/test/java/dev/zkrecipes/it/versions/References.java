// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** The methods and fields that a class uses, each as {@code owner.name} and its descriptor. */
final class References extends ClassVisitor {
    private final Set<String> found = new TreeSet<>();
    /** Made by javac for a switch over an enum, which passes over constants that are missing. */
    private boolean skipped;

    private References() {
        super(Opcodes.ASM9);
    }

    static Set<String> of(byte[] classFile) {
        References references = new References();
        new ClassReader(classFile).accept(references, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return references.found;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        skipped = (access & Opcodes.ACC_SYNTHETIC) != 0;
    }

    private void found(String owner, String name, String descriptor) {
        if (!skipped) {
            found.add(owner + '.' + name + descriptor);
        }
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
        return new MethodVisitor(Opcodes.ASM9) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String called, String type, boolean isInterface) {
                found(owner, called, type);
            }

            @Override
            public void visitFieldInsn(int opcode, String owner, String field, String type) {
                found(owner, field, type);
            }

            @Override
            public void visitInvokeDynamicInsn(String called, String type, Handle bootstrap, Object... arguments) {
                for (Object argument : arguments) {
                    if (argument instanceof Handle method) { // a method reference
                        found(method.getOwner(), method.getName(), method.getDesc());
                    }
                }
            }
        };
    }
}

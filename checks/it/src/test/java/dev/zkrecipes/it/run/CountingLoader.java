// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.run;

import java.io.IOException;
import java.io.InputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Loads {@link Run} and core anew, so that each method of core tells {@link Tally} when it is entered. */
final class CountingLoader extends ClassLoader {
    private static final String CORE = "dev.zkrecipes.core.";

    CountingLoader() {
        super(CountingLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            boolean ours = name.startsWith(CORE);
            if (!ours && !name.startsWith(Run.class.getName())) {
                return super.loadClass(name, resolve);
            }
            byte[] code = ours ? counting(name) : code(name);
            return defineClass(name, code, 0, code.length);
        }
    }

    private byte[] code(String name) throws ClassNotFoundException {
        try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            return file.readAllBytes();
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] counting(String name) throws ClassNotFoundException {
        ClassReader reader = new ClassReader(code(name));
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String method, String descriptor, String signature, String[] exceptions) {
                        return new MethodVisitor(
                                Opcodes.ASM9, super.visitMethod(access, method, descriptor, signature, exceptions)) {
                            @Override
                            public void visitCode() {
                                super.visitCode();
                                visitLdcInsn(name.replaceAll("\\$.*", ""));
                                visitMethodInsn(
                                        Opcodes.INVOKESTATIC,
                                        Type.getInternalName(Tally.class),
                                        "enter",
                                        "(Ljava/lang/String;)V",
                                        false);
                            }
                        };
                    }
                },
                0);
        return writer.toByteArray();
    }
}

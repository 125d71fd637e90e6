// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * An agent that turns each use of an {@code AtomicReferenceFieldUpdater} in the engine, and each compare-and-set by an
 * interface method of {@code Map}, into a step of the schedule. Without the agent Fray sees no step there, and lets no
 * other thread run in between.
 */
public final class UpdaterSteps implements ClassFileTransformer {
    private static final String UPDATER = "java/util/concurrent/atomic/AtomicReferenceFieldUpdater";

    private static final String MAP = "java/util/Map";

    /** The methods of a map that compare and set: they do nothing if another thread was faster. */
    private static final Set<String> EXCHANGES = Set.of(
            "putIfAbsent(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
            "remove(Ljava/lang/Object;Ljava/lang/Object;)Z",
            "replace(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)Z");

    /** Each access to this atomic is a step for Fray. */
    private static final AtomicInteger STEP = new AtomicInteger();

    private UpdaterSteps() {}

    /**
     * Registers the transformer. Called by the JVM at its start.
     *
     * @param options not used
     * @param instrumentation receives the transformer
     */
    public static void premain(String options, Instrumentation instrumentation) {
        instrumentation.addTransformer(new UpdaterSteps());
    }

    /**
     * A step at which Fray may switch to another thread. The transformed classes of the engine call it before each use
     * of an {@code AtomicReferenceFieldUpdater}, and before each conditional update of a map.
     */
    public static void before() {
        STEP.set(0);
    }

    @Override
    public byte @Nullable [] transform(
            @Nullable ClassLoader loader,
            String name,
            @Nullable Class<?> redefined,
            @Nullable ProtectionDomain domain,
            byte[] bytes) {
        if (!name.startsWith("dev/zkrecipes/core/")) {
            return null;
        }
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new Uses(writer), 0);
        return writer.toByteArray();
    }

    private static final class Uses extends ClassVisitor {
        Uses(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                @Override
                public void visitMethodInsn(int code, String owner, String called, String type, boolean isInterface) {
                    if ((owner.equals(UPDATER) && code == Opcodes.INVOKEVIRTUAL)
                            || (owner.equals(MAP) && EXCHANGES.contains(called + type))) {
                        super.visitMethodInsn(
                                Opcodes.INVOKESTATIC, "dev/zkrecipes/schedules/UpdaterSteps", "before", "()V", false);
                    }
                    super.visitMethodInsn(code, owner, called, type, isInterface);
                }
            };
        }
    }
}

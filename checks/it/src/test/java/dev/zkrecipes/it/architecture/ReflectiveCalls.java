// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Collects what a class looks up by its name: {@code class.member} if both are constants beside the call, and otherwise
 * {@code caller calls method}.
 */
final class ReflectiveCalls extends ClassVisitor {
    private static final Map<String, Pattern> LOOKUPS = Map.of(
            "java/lang/Class",
            Pattern.compile(
                    "forName|new(Instance)|get(Declared)?(Method|Field|Constructor|Class|RecordComponent)(s|es)?"),
            "java/lang/ClassLoader",
            Pattern.compile("loadClass"),
            "java/lang/reflect/Proxy",
            Pattern.compile("newProxyInstance"),
            "java/lang/invoke/MethodHandles$Lookup",
            Pattern.compile("find\\w+"),
            "java/util/ServiceLoader",
            Pattern.compile("load\\w*"),
            "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
            Pattern.compile("newUpdater"),
            "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
            Pattern.compile("newUpdater"),
            "java/util/concurrent/atomic/AtomicLongFieldUpdater",
            Pattern.compile("newUpdater"));

    private final Set<String> found;
    private String caller = "";

    ReflectiveCalls(Set<String> found) {
        super(Opcodes.ASM9);
        this.found = found;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        caller = Type.getObjectType(name).getClassName();
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] thrown) {
        return new MethodVisitor(Opcodes.ASM9) {
            /** The first class and the last text among the constants since the last call. */
            private @Nullable Type type;

            private @Nullable String text;

            @Override
            public void visitLdcInsn(Object value) {
                if (value instanceof Type loaded && type == null) {
                    type = loaded;
                } else if (value instanceof String loaded) {
                    text = loaded;
                }
            }

            @Override
            public void visitMethodInsn(int opcode, String owner, String called, String types, boolean isInterface) {
                Pattern lookups = LOOKUPS.get(owner);
                if (lookups != null && lookups.matcher(called).matches()) {
                    found.add(
                            type != null && text != null
                                    ? type.getClassName() + "." + text
                                    : caller + "." + name + " calls " + called);
                }
                type = null;
                text = null;
            }
        };
    }
}

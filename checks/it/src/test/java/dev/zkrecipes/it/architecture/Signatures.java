// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.domain.JavaTypeVariable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The types that a user of a class gets to see: in what it extends, its fields, its methods. */
final class Signatures {
    private Signatures() {}

    /** Returns the names of the types shown, by the place where they are. */
    static Map<String, Set<String>> shownBy(JavaClass javaClass) {
        Map<String, Set<String>> shown = new TreeMap<>();
        List<JavaType> header = new ArrayList<>(javaClass.getInterfaces());
        javaClass.getSuperclass().ifPresent(header::add);
        addBounds(javaClass.getTypeParameters(), header);
        shown.put(javaClass.getFullName(), names(header));
        for (JavaMember member : javaClass.getMembers()) {
            Set<JavaModifier> modifiers = member.getModifiers();
            if (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED)) {
                shown.put(member.getFullName(), names(types(member)));
            }
        }
        return shown;
    }

    private static List<JavaType> types(JavaMember member) {
        List<JavaType> types = new ArrayList<>();
        if (member instanceof JavaField field) {
            types.add(field.getType());
        } else if (member instanceof JavaCodeUnit unit) {
            types.add(unit.getReturnType());
            types.addAll(unit.getParameterTypes());
            types.addAll(unit.getExceptionTypes());
            addBounds(unit.getTypeParameters(), types);
        }
        return types;
    }

    private static void addBounds(List<? extends JavaTypeVariable<?>> parameters, List<JavaType> types) {
        parameters.forEach(parameter -> types.addAll(parameter.getBounds()));
    }

    private static Set<String> names(List<JavaType> types) {
        return types.stream()
                .flatMap(type -> type.getAllInvolvedRawTypes().stream())
                .map(raw -> raw.getBaseComponentType().getFullName())
                .collect(Collectors.toSet());
    }
}

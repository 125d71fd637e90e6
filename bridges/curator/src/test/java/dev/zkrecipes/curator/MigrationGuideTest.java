// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.junit.jupiter.api.Test;

/** docs/curator.md names all that Curator's packages for locks and leaders offer, and nothing that either library has not. */
class MigrationGuideTest {
    private static final Path GUIDE = Path.of("../..", "docs", "curator.md");
    private static final List<String> PACKAGES =
            List.of(InterProcessMutex.class.getPackageName(), LeaderLatch.class.getPackageName());
    private static final Pattern ROW = Pattern.compile("^\\| (`[^|]+`) \\| (\\S[^|]*) \\|$", Pattern.MULTILINE);
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    /** In the first column, as {@code InterProcessMutex.acquire(long, TimeUnit)}; a row without an answer is none. */
    @Test
    void table_namesEveryPublicMember_once() throws Exception {
        List<String> named = rows().flatMap(row -> CODE.matcher(row.group(1)).results())
                .map(code -> code.group(1))
                .toList();
        assertThat(named).doesNotHaveDuplicates();
        assertThat(new TreeSet<>(named)).isEqualTo(publicMembers());
    }

    /** In the second column, whatever is in code quotes: see {@link OurNames}. */
    @Test
    void table_namesOnlyExistingMembers() throws IOException {
        List<String> named = rows().flatMap(row -> CODE.matcher(row.group(2)).results())
                .map(code -> code.group(1))
                .distinct()
                .toList();
        assertThat(named).hasSizeGreaterThan(40);
        assertThat(named).filteredOn(name -> !OurNames.exists(name)).isEmpty();
    }

    private static Stream<MatchResult> rows() throws IOException {
        return ROW.matcher(Files.readString(GUIDE)).results();
    }

    private static Set<String> publicMembers() throws Exception {
        Set<String> members = new TreeSet<>();
        for (Class<?> type : publicTypes()) {
            members.add(name(type));
            Stream.<Executable>concat(constructors(type), methods(type))
                    .map(member -> signature(type, member))
                    .forEach(members::add);
            Arrays.stream(type.getDeclaredFields())
                    .filter(field -> Modifier.isPublic(field.getModifiers()))
                    .map(Field::getName)
                    .forEach(field -> members.add(name(type) + "." + field));
        }
        return members;
    }

    private static List<Class<?>> publicTypes() throws Exception {
        Path jar = Path.of(InterProcessMutex.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (JarFile file = new JarFile(jar.toFile())) {
            List<String> names = file.stream()
                    .map(entry -> entry.getName())
                    .filter(entry -> entry.endsWith(".class"))
                    .map(entry -> entry.substring(0, entry.length() - ".class".length())
                            .replace('/', '.'))
                    .filter(type -> PACKAGES.contains(type.substring(0, type.lastIndexOf('.'))))
                    .toList();
            List<Class<?>> types = new ArrayList<>();
            for (String name : names) {
                Class<?> type = Class.forName(name, false, MigrationGuideTest.class.getClassLoader());
                if (Modifier.isPublic(type.getModifiers())) {
                    types.add(type);
                }
            }
            assertThat(types).hasSizeGreaterThan(20);
            return types;
        }
    }

    private static Stream<Constructor<?>> constructors(Class<?> type) {
        return Arrays.stream(type.getDeclaredConstructors())
                .filter(constructor -> Modifier.isPublic(constructor.getModifiers()));
    }

    /**
     * Those that it declares, or gets from a class of the package that nobody else can name; without those of every
     * object and every enum.
     */
    private static Stream<Method> methods(Class<?> type) {
        Set<String> ofAll = type.isEnum() ? Set.of("values", "valueOf") : Set.of("equals", "hashCode", "toString");
        return Arrays.stream(type.getMethods())
                .filter(method -> !method.isBridge() && !ofAll.contains(method.getName()))
                .filter(method -> method.getDeclaringClass() == type
                        || (PACKAGES.contains(method.getDeclaringClass().getPackageName())
                                && !Modifier.isPublic(method.getDeclaringClass().getModifiers())));
    }

    private static String signature(Class<?> type, Executable member) {
        String called = member instanceof Constructor ? "new " + name(type) : name(type) + "." + member.getName();
        return Arrays.stream(member.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", called + "(", ")"));
    }

    private static String name(Class<?> type) {
        return type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
    }
}

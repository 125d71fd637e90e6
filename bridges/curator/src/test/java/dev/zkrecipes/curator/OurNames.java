// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.lang.reflect.Executable;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Names of our public API as a guide writes them: {@code Type}, with or without its package, {@code Type.Nested},
 * {@code Type.method}, {@code new Type(Parameter, Types)}. {@code lock.} and {@code lease.} stand for their interfaces, a
 * method by itself is one of a recipe. Parameters that are types must be the right ones.
 */
final class OurNames {
    private static final Pattern NAME = Pattern.compile("(new )?(?:([\\w.]+)\\.)?(\\w+)(?:\\((.*)\\))?");
    private static final Pattern TYPES = Pattern.compile("((int|long|boolean|[A-Z]\\w*)(, (?!$)|$))*");

    private static final List<Class<?>> RECIPES = List.of(
            InterProcessMutex.class,
            InterProcessReadWriteLock.class,
            InterProcessSemaphore.class,
            InterProcessMultiLock.class);
    private static final List<String> PACKAGES = Stream.concat(
                    Stream.of(Lease.class, LockDriver.class, CuratorLocks.class, LeaderElection.class),
                    RECIPES.stream())
            .map(Class::getPackageName)
            .toList();

    private OurNames() {}

    static boolean exists(String name) {
        Matcher parts = NAME.matcher(name);
        if (!parts.matches()) {
            return false;
        }
        String member = parts.group(3);
        Optional<String> parameters = Optional.ofNullable(parts.group(4));
        if (parts.group(1) != null) {
            return type(member).stream()
                    .flatMap(type -> Arrays.stream(type.getConstructors()))
                    .anyMatch(constructor -> fits(constructor, parameters));
        }
        if (parameters.isEmpty() && type(name).isPresent()) {
            return true;
        }
        return owners(Optional.ofNullable(parts.group(2)))
                .flatMap(type -> Arrays.stream(type.getMethods()))
                .anyMatch(method -> method.getName().equals(member) && fits(method, parameters));
    }

    private static Stream<Class<?>> owners(Optional<String> owner) {
        return owner.map(name -> switch (name) {
                    case "lock" -> Stream.<Class<?>>of(InterProcessLock.class);
                    case "lease" -> Stream.<Class<?>>of(Lease.class);
                    default -> type(name).stream();
                })
                .orElseGet(RECIPES::stream);
    }

    private static boolean fits(Executable executable, Optional<String> parameters) {
        String types = Arrays.stream(executable.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", "));
        return parameters
                .filter(written -> TYPES.matcher(written).matches())
                .map(types::equals)
                .orElse(true);
    }

    private static Optional<Class<?>> type(String name) {
        return Stream.concat(Stream.of(name), PACKAGES.stream().map(place -> place + '.' + name.replace('.', '$')))
                .filter(full -> PACKAGES.stream().anyMatch(place -> full.startsWith(place + '.')))
                .flatMap(full -> load(full).stream())
                .filter(type -> Modifier.isPublic(type.getModifiers()))
                .findFirst();
    }

    private static Optional<Class<?>> load(String name) {
        try {
            return Optional.of(Class.forName(name, false, OurNames.class.getClassLoader()));
        } catch (ClassNotFoundException e) {
            return Optional.empty();
        }
    }
}

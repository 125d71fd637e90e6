// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.Mockito.mock;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.PathView;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Null is refused by the call that gives it, wherever applications and authors of drivers make something. */
class NullsTest {
    private static final ZooKeeperClient CLIENT = ZooKeeperClient.connect("127.0.0.1:1");

    /** What only the engine and simulated servers make; of an answer, what its factories do not. */
    private static final Set<Class<?>> MADE_BY_OTHERS =
            Set.of(LockGroups.Modes.class, LockSnapshot.class, PathView.class, Answer.class, ZooKeeperOperations.class);

    private static final Pattern MADE_IN = Pattern.compile(
            "dev\\.zkrecipes\\.(core(\\.(spi(\\.port)?|jfr))?|mutex|rwlock|semaphore|multilock|handoff|leader)");

    @AfterAll
    static void close() {
        CLIENT.close();
    }

    static Stream<Arguments> parameters() {
        return ArchitectureTest.HOUSE.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC)
                        && MADE_IN.matcher(type.getPackageName()).matches()
                        && !type.isAssignableTo(Throwable.class)) // as the JDK does it
                .map(JavaClass::reflect)
                .flatMap(type -> Stream.concat(constructors(type), factories(type)))
                .flatMap(maker -> Stream.of(maker.getParameters())
                        .filter(each -> !each.getType().isPrimitive()
                                && !each.getAnnotatedType().isAnnotationPresent(Nullable.class))
                        .map(each -> Arguments.of(maker, each)));
    }

    private static Stream<Executable> constructors(Class<?> type) {
        boolean madeByOthers =
                MADE_BY_OTHERS.stream().anyMatch(made -> type.getName().startsWith(made.getName()));
        return madeByOthers || Modifier.isAbstract(type.getModifiers())
                ? Stream.of()
                : Stream.of(type.getConstructors());
    }

    private static Stream<Executable> factories(Class<?> type) {
        return Stream.<Executable>of(type.getDeclaredMethods())
                .filter(each -> Modifier.isStatic(each.getModifiers()) && Modifier.isPublic(each.getModifiers()))
                .filter(each -> type != PathView.class && !each.isSynthetic());
    }

    @ParameterizedTest
    @MethodSource("parameters")
    void nullIsRefused(Executable maker, Parameter parameter) {
        Object[] arguments = Stream.of(maker.getParameters())
                .map(each -> each.equals(parameter) ? null : sample(each))
                .toArray();
        assertThat(catchThrowable(() -> call(maker, arguments)))
                .as("%s without its %s", maker, parameter)
                .hasCauseInstanceOf(NullPointerException.class);
    }

    private static void call(Executable maker, Object[] arguments) throws ReflectiveOperationException {
        if (maker instanceof Constructor<?> constructor) {
            constructor.newInstance(arguments);
        } else {
            ((Method) maker).invoke(null, arguments);
        }
    }

    private static Object sample(Parameter parameter) {
        Class<?> type = parameter.getType();
        return switch (type.getSimpleName()) {
            case "int" -> 1;
            case "long" -> 1L;
            case "boolean" -> true;
            case "byte[]" -> new byte[0];
            case "String" -> "/locks/orders";
            case "Duration" -> Duration.ofSeconds(1);
            case "Optional" -> Optional.empty();
            case "List" -> samples(parameter.getParameterizedType().getTypeName());
            case "ZooKeeperClient" -> CLIENT;
            case "LockOptions" -> LockOptions.defaults();
            case "InterProcessLock" -> new InterProcessMutex(CLIENT, "/locks/orders");
            case "LockNode" -> new LockNode("lock-0000000001", "lock-", "", 1);
            case "Participant" -> new Participant("/a", "x", "lock-", "", "me", 1, Duration.ZERO, 0, true);
            default -> type.isArray() ? Array.newInstance(type.getComponentType(), 0) : mock(type);
        };
    }

    private static List<?> samples(String typeName) {
        return typeName.contains("String")
                ? List.of("/locks/orders")
                : typeName.contains("InterProcessLock")
                        ? List.of(new InterProcessMutex(CLIENT, "/locks/orders"))
                        : List.of();
    }
}

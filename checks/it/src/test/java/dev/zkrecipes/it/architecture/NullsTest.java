// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.NodeData;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.curator.CuratorLocks;
import dev.zkrecipes.explore.Violation;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.LeaderWork;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.shedlock.ZooKeeperLockProvider;
import dev.zkrecipes.spring.ElectionEvent;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Null is refused, by the name of the argument, by the call that gives it: wherever applications and authors of drivers
 * make something, and by each method that applications call.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NullsTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** What only the engine, the starter and simulated servers make; of an answer, what its factories do not. */
    private static final Set<Class<?>> MADE_BY_OTHERS = Set.of(
            LockGroups.Modes.class,
            LockSnapshot.class,
            NodeData.class,
            Answer.class,
            ElectionEvent.TermBegan.class,
            ElectionEvent.TermEnded.class,
            ElectionEvent.GiveBackRequested.class,
            ElectionEvent.Withdrawn.class,
            ZooKeeperOperations.class,
            Violation.class);

    private static final Pattern MADE_IN = Pattern.compile("dev\\.zkrecipes\\."
            + "(core(\\.(spi(\\.port)?|jfr))?|mutex|rwlock|semaphore|multilock|handoff|leader|curator|micrometer|shedlock|spring"
            + "|test(\\.contract)?|explore(\\.sim)?)");

    private static final List<Class<?>> CALLED_BY_THE_LIBRARY = List.of(
            EngineScheduler.class,
            ForeignLock.class,
            ForeignLock.Hold.class,
            InterProcessLock.Body.class,
            InterProcessLock.Task.class,
            LeaderListener.class,
            LeaderWork.class,
            LockDriver.class,
            LockObserver.class,
            LockObserver.Progress.class,
            ZooKeeperOperations.class,
            ZooKeeperOperations.Factory.class);

    private final Simulation simulation = new Simulation(Choices.replay(new int[0]));
    private final SimulatedScheduler scheduler = new SimulatedScheduler(simulation, 1, failure -> {
        throw new AssertionError("the engine failed", failure);
    });
    private final ZooKeeperClient client = Ports.clientBuilder(
                    new SimulatedZooKeeper(simulation, SESSION, SECOND).process(scheduler, "one"), scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final InterProcessLock mutex = new InterProcessMutex(client, "/locks/orders");
    private final LeaderElection election = new LeaderElection(client, "/leader");
    private Participant participant;

    /** What applications call, and by which type. */
    private final Map<Object, Class<?>> called = new HashMap<>();

    @BeforeAll
    void makeWhatIsCalled() throws Exception {
        election.join();
        Term term = election.awaitLeadership(SECOND).orElseThrow();
        participant = election.participants().get(0);
        InterProcessReadWriteLock rw = new InterProcessReadWriteLock(client, "/locks/rw");
        InterProcessMultiLock both = new InterProcessMultiLock(client, List.of("/locks/a", "/locks/b"));
        InterProcessLock handoff = new HandoffMutex(client, "/locks/handoff", 2);
        InterProcessLock foreign = CuratorLocks.ofCurator(
                mock(CuratorFramework.class, RETURNS_DEEP_STUBS),
                "/locks/foreign",
                mock(org.apache.curator.framework.recipes.locks.InterProcessLock.class));
        for (InterProcessLock lock : List.of(
                mutex,
                new InterProcessSemaphoreMutex(client, "/locks/single"),
                rw.readLock(),
                rw.writeLock(),
                both,
                new InterProcessSemaphore(client, "/semaphore", 2).permits(1),
                handoff,
                foreign)) {
            called.put(lock, InterProcessLock.class);
            called.put(lock.asLock(), Lock.class);
        }
        for (InterProcessLock lock : List.of(mutex, both, handoff)) {
            called.put(lock.acquire(), Lease.class);
        }
        called.put(new HandoffMutex(client, "/locks/kept", 2), HandoffMutex.class);
        called.put(client, ZooKeeperClient.class);
        called.put(LockOptions.defaults(), LockOptions.class);
        called.put(new InterProcessSemaphore(client, "/semaphore", 2), InterProcessSemaphore.class);
        called.put(
                new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults()),
                LockInternals.class);
        called.put(new Revoker(client), Revoker.class);
        called.put(new Revoker(client).request(participant), Revocation.class);
        called.put(election, LeaderElection.class);
        called.put(term, Term.class);
        called.put(new ZooKeeperLockProvider(client, "/jobs"), ZooKeeperLockProvider.class);
        called.put(ZooKeeperClient.builder(), ZooKeeperClientBuilder.class);
    }

    @AfterAll
    void close() {
        client.close();
    }

    /** A call, of which one argument is null; {@code on} is null for constructors and factories. */
    record Call(Executable executable, @Nullable Object on, int argument) {
        /** What is executed, if the call is of an interface. */
        Executable code() throws NoSuchMethodException {
            return on == null
                    ? executable
                    : on.getClass().getMethod(executable.getName(), executable.getParameterTypes());
        }

        @Override
        public String toString() {
            return executable + (on == null ? "" : " of " + on.getClass().getSimpleName()) + ", argument " + argument;
        }
    }

    Stream<Call> calls() {
        Stream<Call> made = publicTypes()
                .flatMap(type -> Stream.concat(constructors(type), factories(type)))
                .flatMap(maker -> calls(maker, null));
        Stream<Call> methods = called.entrySet().stream().flatMap(each -> calls(each.getValue(), each.getKey()));
        return Stream.concat(made, methods);
    }

    private static Stream<? extends Class<?>> publicTypes() {
        return ArchitectureTest.HOUSE.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC)
                        && MADE_IN.matcher(type.getPackageName()).matches()
                        && !type.isAssignableTo(Throwable.class)) // as the JDK does it
                .map(JavaClass::reflect);
    }

    private static Stream<Call> calls(Class<?> type, @Nullable Object on) {
        return Stream.of(type.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers())
                        && (type == Lock.class
                                || method.getDeclaringClass().getName().startsWith("dev."))
                        && !Set.of("equals", "compareTo").contains(method.getName()))
                .flatMap(method -> calls(method, on));
    }

    private static Stream<Call> calls(Executable executable, @Nullable Object on) {
        Parameter[] parameters = executable.getParameters();
        return IntStream.range(0, parameters.length)
                .filter(i -> !parameters[i].getType().isPrimitive()
                        && !parameters[i].getAnnotatedType().isAnnotationPresent(Nullable.class))
                .mapToObj(i -> new Call(executable, on, i));
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
                .filter(each -> !each.isSynthetic());
    }

    @ParameterizedTest
    @MethodSource("calls")
    void null_isRefusedByTheNameOfTheArgument(Call call) throws Exception {
        Parameter[] parameters = call.executable().getParameters();
        Object[] arguments = IntStream.range(0, parameters.length)
                .mapToObj(i -> i == call.argument() ? null : sample(parameters[i]))
                .toArray();
        String name = ParameterNames.of(call.code()).get(call.argument());
        Throwable thrown = catchThrowable(() -> run(call, arguments));
        assertThat(thrown).as("%s, which is %s", call, name).isInstanceOf(NullPointerException.class);
        assertThat(String.valueOf(thrown.getMessage()))
                .as("%s names %s, in words of its own", call, name)
                .doesNotStartWith("Cannot ") // as the JVM's begin
                .satisfies(message -> assertThat(letters(message)).contains(letters(name)));
    }

    /** Whoever adds a method decides here who calls it. */
    @Test
    void everyMethod_isCalledHere_orByTheLibraryOnly() {
        Set<String> here = called.values().stream()
                .flatMap(type -> calls(type, null))
                .map(NullsTest::signature)
                .collect(Collectors.toSet());
        assertThat(publicTypes()
                        .filter(type -> !type.getPackageName().matches(".*\\.(test|explore)(\\..*)?")
                                && CALLED_BY_THE_LIBRARY.stream().noneMatch(each -> each.isAssignableFrom(type)))
                        .flatMap(type -> calls(type, null))
                        .filter(call -> !here.contains(signature(call))))
                .isEmpty();
    }

    private static String signature(Call call) {
        return call.executable().getName() + List.of(call.executable().getParameterTypes());
    }

    private static String letters(String text) {
        return text.replaceAll("[^A-Za-z]", "").toLowerCase(Locale.ROOT);
    }

    private static void run(Call call, Object[] arguments) throws Throwable {
        try {
            if (call.executable() instanceof Constructor<?> constructor) {
                constructor.newInstance(arguments);
            } else {
                Method method = (Method) call.executable();
                method.setAccessible(true);
                method.invoke(call.on(), arguments);
            }
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Object sample(Parameter parameter) {
        Class<?> type = parameter.getType();
        return switch (type.getSimpleName()) {
            case "int" -> 1;
            case "long" -> 1L;
            case "boolean" -> true;
            case "byte[]" -> new byte[0];
            case "String" -> "/locks/orders";
            case "Duration" -> SECOND;
            case "Optional" -> Optional.empty();
            case "List" -> samples(parameter.getParameterizedType().getTypeName());
            case "ZooKeeperClient" -> client;
            case "LockOptions" -> LockOptions.defaults();
            case "InterProcessLock" -> type == InterProcessLock.class ? mutex : mock(type);
            case "LockNode" -> new LockNode("lock-0000000001", "lock-", "", 1);
            case "Participant" -> participant;
            default -> type.isArray() ? Array.newInstance(type.getComponentType(), 0) : mock(type);
        };
    }

    private List<?> samples(String typeName) {
        return typeName.contains("String")
                ? List.of("/locks/orders")
                : typeName.contains("InterProcessLock") ? List.of(mutex) : List.of();
    }

    /** The names of parameters, which only the debug information of a method's code has. */
    static final class ParameterNames extends ClassVisitor {
        private final Executable executable;
        private final Map<Integer, String> bySlot = new HashMap<>();

        private ParameterNames(Executable executable) {
            super(Opcodes.ASM9);
            this.executable = executable;
        }

        static List<String> of(Executable executable) throws IOException {
            Class<?> type = executable.getDeclaringClass();
            ParameterNames names = new ParameterNames(executable);
            try (InputStream code = type.getResourceAsStream(type.getName().replaceFirst(".*\\.", "") + ".class")) {
                new ClassReader(code).accept(names, ClassReader.SKIP_FRAMES);
            }
            return names.inOrder();
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            boolean isIt = executable instanceof Constructor<?> constructor
                    ? name.equals("<init>") && descriptor.equals(Type.getConstructorDescriptor(constructor))
                    : name.equals(executable.getName())
                            && descriptor.equals(Type.getMethodDescriptor((Method) executable));
            return !isIt
                    ? null
                    : new MethodVisitor(Opcodes.ASM9) {
                        @Override
                        public void visitLocalVariable(
                                String local, String type, String generic, Label start, Label end, int slot) {
                            bySlot.putIfAbsent(slot, local);
                        }
                    };
        }

        private List<String> inOrder() {
            int[] slot = {Modifier.isStatic(executable.getModifiers()) ? 0 : 1};
            return Stream.of(executable.getParameterTypes())
                    .map(type -> {
                        String name = bySlot.get(slot[0]);
                        slot[0] += type == long.class || type == double.class ? 2 : 1;
                        return name;
                    })
                    .toList();
        }
    }
}

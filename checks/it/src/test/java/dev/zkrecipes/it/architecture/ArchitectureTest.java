// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaModifier.SYNCHRONIZED;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.zkrecipes.core.spi.DelegatingLock;
import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.test.internal.ServerStage;
import java.lang.reflect.TypeVariable;
import java.nio.file.Files;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules of the house, over the main code of all modules but zklock, which has a test of its own, and the benchmarks. */
class ArchitectureTest {
    static final JavaClasses HOUSE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.zkrecipes");

    private static final Pattern MODULE = Pattern.compile("dev\\.zkrecipes\\.(\\w+)(\\..*)?");
    /**
     * Those that use others than core: the explorer looks with the suites' eyes for what is left; bridges make locks for
     * code that has Curator's framework or Spring Boot, and nothing else.
     */
    private static final Map<String, Set<String>> USED = Map.of(
            module(Explorer.class.getPackageName()),
            Set.of("test"),
            "curator",
            Set.of("mutex", "rwlock", "multilock"),
            "spring",
            Set.of("mutex", "rwlock", "leader", "micrometer", "shedlock"));

    private static final Set<String> APPLICATIONS = Set.of("recipes-cli", "recipes-bench", "recipes-schedules");

    /** A module that recipes-it does not depend on would escape every rule here; recipes-it itself has no main code. */
    @Test
    void everyModuleIsSeen() {
        Set<String> seen =
                HOUSE.stream().map(c -> "recipes-" + module(c.getPackageName())).collect(Collectors.toSet());
        assertThat(Pom.modules().stream()
                        .filter(pom -> Files.exists(pom.folder().resolve("src/main")))
                        .map(Pom::artifact)
                        .filter(name -> !APPLICATIONS.contains(name))
                        .map(name -> name.replace("-boot-starter", "")))
                .isNotEmpty()
                .isSubsetOf(seen);
    }

    @Test
    void arrowsRunOneWay() {
        classes().should(useOnlyTheirOwnModuleAndCore()).check(HOUSE);
    }

    /** But for {@code zklock doctor}, which looks at servers as the client does, and is shipped with it in one jar. */
    @Test
    void internalBelongsToCore() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.zkrecipes.core..", "dev.zkrecipes.cli.doctor")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.zkrecipes.core.internal..")
                .check(HOUSE);
    }

    @Test
    void theWallClockHasOneReader() {
        classes()
                .that()
                .doNotHaveFullyQualifiedName("dev.zkrecipes.core.internal.thread.EngineExecutor")
                .should(useNone("the wall clock", ArchitectureTest::readsTheWallClock))
                .check(HOUSE);
    }

    @Test
    void noMethodDeclaresExceptionOrThrowable() {
        noMethods()
                .that(describe(
                        "are not synthetic, nor throw what their caller's code throws",
                        m -> !m.getModifiers().contains(JavaModifier.SYNTHETIC) && !throwsWhatItsCallerThrows(m)))
                .and()
                .areDeclaredInClassesThat()
                .areNotAnnotatedWith(FunctionalInterface.class)
                .should()
                .declareThrowableOfType(describe(
                        "Exception or Throwable",
                        c -> c.isEquivalentTo(Exception.class) || c.isEquivalentTo(Throwable.class)))
                .check(HOUSE);
    }

    /** Not every class can be loaded here: those of the starter extend what is not there. */
    private static boolean throwsWhatItsCallerThrows(JavaMethod method) {
        boolean declares = method.getThrowsClause().containsType(Exception.class)
                || method.getThrowsClause().containsType(Throwable.class);
        boolean isInterceptor = method.getOwner().getFullName().equals("dev.zkrecipes.spring.LockedCalls");
        return declares
                && (isInterceptor
                        || Stream.of(method.reflect().getGenericExceptionTypes())
                                .anyMatch(TypeVariable.class::isInstance));
    }

    @Test
    void publicClassesAreClosed() {
        classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .and()
                .areNotInterfaces()
                .and()
                .areNotAssignableTo(Throwable.class)
                .and()
                // A sealed class cannot permit those of another package: machines, and what holds stand on.
                .doNotHaveFullyQualifiedName("dev.zkrecipes.core.internal.source.SessionTask")
                .and()
                .doNotHaveFullyQualifiedName("dev.zkrecipes.core.internal.hold.Held")
                .should(beFinalOrSealed())
                .check(HOUSE);
    }

    @Test
    void coreHasNoSynchronizedMethod() {
        methods().that(areInCore()).should().notHaveModifier(SYNCHRONIZED).check(HOUSE);
    }

    @Test
    void coreHasNoSynchronizedBlock() {
        classes()
                .that()
                .resideInAPackage("dev.zkrecipes.core..")
                .should(haveNoSynchronizedBlock())
                .check(HOUSE);
    }

    @Test
    void coreNeverWaitsOnAnObject() {
        classes()
                .that()
                .resideInAPackage("dev.zkrecipes.core..")
                .should(useNone("Object.wait or notify", ArchitectureTest::usesAMonitor))
                .check(HOUSE);
    }

    @Test
    void coreMakesThreadsInOnePlace() {
        classes()
                .that()
                .resideInAPackage("dev.zkrecipes.core..")
                .and()
                .doNotHaveFullyQualifiedName("dev.zkrecipes.core.internal.thread.EngineThreads")
                .should(useNone("a maker of threads", ArchitectureTest::makesThreads))
                .check(HOUSE);
    }

    /** While a thread of a ForkJoinPool waits for a future, it runs other tasks in the middle of what it is doing. */
    @Test
    @Tag("H118")
    void nobodyWaitsForAFuture() {
        classes()
                .that()
                .resideOutsideOfPackages("dev.zkrecipes.test..", "dev.zkrecipes.explore..")
                .should(useNone("a wait for a future", ArchitectureTest::waitsForAFuture))
                .check(HOUSE);
    }

    /** The JDK makes one thread for all of them, which keeps the class loader and the locals of whoever is first. */
    @Test
    @Tag("H131")
    void nobodyUsesTheTimersOfFutures() {
        classes()
                .that()
                .resideOutsideOfPackages("dev.zkrecipes.test..", "dev.zkrecipes.bench..")
                .should(useNone("the timers of CompletableFuture", ArchitectureTest::usesATimerOfFutures))
                .check(HOUSE);
    }

    @Test
    void signaturesOfCoreShowNoGuavaAndNoServer() {
        DescribedPredicate<JavaClass> published = resideInAPackage("dev.zkrecipes.core..")
                .and(not(resideInAPackage("dev.zkrecipes.core.internal..")))
                .and(describe("are public", ArchitectureTest::isVisible));
        classes()
                .that(published)
                .should(showNone("com.google.", "org.apache.zookeeper.server."))
                .check(HOUSE);
    }

    private static String module(String packageName) {
        Matcher matcher = MODULE.matcher(packageName);
        return matcher.matches() ? matcher.group(1) : "";
    }

    private static ArchCondition<JavaClass> useOnlyTheirOwnModuleAndCore() {
        return condition("use only their own module and core", (javaClass, events) -> {
            String from = module(javaClass.getPackageName());
            for (Dependency dependency : javaClass.getDirectDependenciesFromSelf()) {
                String to = module(
                        dependency.getTargetClass().getBaseComponentType().getPackageName());
                boolean isUsed = USED.getOrDefault(from, Set.of()).contains(to);
                if (!to.isEmpty() && !to.equals(from) && !to.equals("core") && !isUsed) {
                    events.add(SimpleConditionEvent.violated(javaClass, dependency.getDescription()));
                }
            }
        });
    }

    /** Calls and method references alike. */
    private static ArchCondition<JavaClass> useNone(String what, UsePredicate banned) {
        return condition(
                "not use " + what,
                (javaClass, events) -> javaClass.getCodeUnitAccessesFromSelf().stream()
                        .filter(use -> banned.test(
                                use.getTargetOwner(),
                                use.getTarget().getName(),
                                use.getTarget().getRawParameterTypes().isEmpty()))
                        .forEach(use -> events.add(SimpleConditionEvent.violated(javaClass, use.getDescription()))));
    }

    private interface UsePredicate {
        boolean test(JavaClass owner, String member, boolean withoutArguments);
    }

    private static boolean usesATimerOfFutures(JavaClass owner, String member, boolean withoutArguments) {
        return owner.isAssignableTo(CompletableFuture.class)
                && Set.of("orTimeout", "completeOnTimeout", "delayedExecutor").contains(member);
    }

    private static boolean readsTheWallClock(JavaClass owner, String member, boolean withoutArguments) {
        return switch (owner.getFullName()) {
            case "java.lang.System" -> member.equals("currentTimeMillis");
            case "java.util.Date", "java.util.GregorianCalendar" -> member.equals("<init>") && withoutArguments;
            case "java.util.Calendar" -> member.equals("getInstance");
            case "java.time.Clock" -> member.startsWith("system") || member.startsWith("tick");
            default -> owner.getPackageName().equals("java.time") && member.equals("now");
        };
    }

    private static boolean usesAMonitor(JavaClass owner, String member, boolean withoutArguments) {
        return owner.isEquivalentTo(Object.class)
                && Set.of("wait", "notify", "notifyAll").contains(member);
    }

    private static boolean makesThreads(JavaClass owner, String member, boolean withoutArguments) {
        boolean constructed = member.equals("<init>")
                && (owner.isAssignableTo(Thread.class)
                        || owner.isAssignableTo("java.util.concurrent.AbstractExecutorService")
                        || owner.isAssignableTo("java.util.Timer"));
        return constructed
                || (owner.getFullName().equals("java.util.concurrent.Executors") && member.startsWith("new"));
    }

    private static boolean waitsForAFuture(JavaClass owner, String member, boolean withoutArguments) {
        boolean waits = owner.isAssignableTo("java.util.concurrent.Future")
                && Set.of("get", "join", "invoke", "quietlyJoin", "quietlyInvoke", "helpQuiesce")
                        .contains(member);
        boolean gives = owner.isAssignableTo("java.util.concurrent.ExecutorService")
                && Set.of("invokeAll", "invokeAny", "invoke", "managedBlock", "awaitQuiescence")
                        .contains(member);
        return waits || gives;
    }

    private static ArchCondition<JavaClass> beFinalOrSealed() {
        return condition("be final or sealed", (javaClass, events) -> {
            boolean closed = javaClass.getModifiers().contains(JavaModifier.FINAL)
                    || javaClass.isEnum()
                    || javaClass.reflect().isSealed();
            if (!closed && !isSuite(javaClass) && !javaClass.isEquivalentTo(DelegatingLock.class)) {
                events.add(SimpleConditionEvent.violated(javaClass, javaClass.getDescription() + " is open"));
            }
        });
    }

    /** Tests extend the suites and the stage of the test kit, and can do nothing else with them. */
    private static boolean isSuite(JavaClass javaClass) {
        boolean isContract = javaClass.getPackageName().equals("dev.zkrecipes.test.contract")
                && javaClass.getSimpleName().endsWith("Contract");
        return (isContract || javaClass.isEquivalentTo(ServerStage.class))
                && javaClass.getModifiers().contains(JavaModifier.ABSTRACT);
    }

    private static DescribedPredicate<JavaCodeUnit> areInCore() {
        return describe(
                "are in core", unit -> module(unit.getOwner().getPackageName()).equals("core"));
    }

    private static ArchCondition<JavaClass> haveNoSynchronizedBlock() {
        return condition(
                "have no synchronized block",
                (javaClass, events) -> SynchronizedBlocks.of(javaClass)
                        .forEach(method -> events.add(SimpleConditionEvent.violated(
                                javaClass, javaClass.getFullName() + "." + method + " has a synchronized block"))));
    }

    private static boolean isVisible(JavaClass javaClass) {
        return javaClass.getModifiers().contains(JavaModifier.PUBLIC)
                && javaClass
                        .getEnclosingClass()
                        .map(ArchitectureTest::isVisible)
                        .orElse(true);
    }

    private static ArchCondition<JavaClass> showNone(String... prefixes) {
        return condition(
                "show no type of " + String.join(", ", prefixes),
                (javaClass, events) -> Signatures.shownBy(javaClass)
                        .forEach((where, types) -> types.stream()
                                .filter(type -> Set.of(prefixes).stream().anyMatch(type::startsWith))
                                .forEach(type -> events.add(
                                        SimpleConditionEvent.violated(javaClass, where + " shows " + type)))));
    }

    private static ArchCondition<JavaClass> condition(String description, Check check) {
        return new ArchCondition<>(description) {
            @Override
            public void check(JavaClass javaClass, ConditionEvents events) {
                check.accept(javaClass, events);
            }
        };
    }

    private interface Check {
        void accept(JavaClass javaClass, ConditionEvents events);
    }
}

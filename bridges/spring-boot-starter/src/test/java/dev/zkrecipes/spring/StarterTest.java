// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.jfr.JfrLockObserver;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.micrometer.LockMetrics;
import dev.zkrecipes.micrometer.LockObservations;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.shedlock.ZooKeeperLockProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import net.javacrumbs.shedlock.core.LockProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.springframework.aop.support.AopUtils;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggerConfiguration;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.javapoet.ClassName;

/** What the starter makes under which conditions, and what fails the start. No server is needed. */
class StarterTest {
    private static final String CONNECT = "zkrecipes.connect-string=127.0.0.1:1";

    private final ApplicationContextRunner boot =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class));

    @TempDir
    private Path folder;

    @Test
    void connectString_isEnough_andNoServerIsNeeded() {
        ZooKeeperClient[] made = new ZooKeeperClient[1];
        boot.withPropertyValues(CONNECT, "zkrecipes.label=shop 7").run(context -> {
            made[0] = context.getBean(ZooKeeperClient.class);
            assertThat(made[0].ownerLabel()).isEqualTo("shop 7");
            assertThat(context).hasSingleBean(LockRegistry.class);
            assertThat(context).doesNotHaveBean(LockMetrics.class).doesNotHaveBean(JfrLockObserver.class);
            assertThat(context.getBean(HealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.DOWN);
        });
        assertThat(made[0].connectionState()).isEqualTo(ConnectionState.CLOSED);
    }

    /** Spring Boot's goal process-aot writes a context into code, for native images and for a fast start. */
    @Test
    void contextWithAnElection_canBeMadeAheadOfTime() {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of(CONNECT, "zkrecipes.elections.billing.path=/billing")
                .applyTo(context);
        context.register(ZkRecipesAutoConfiguration.class);
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        DefaultGenerationContext code =
                new DefaultGenerationContext(new ClassNameGenerator(ClassName.get(StarterTest.class)), files);
        new ApplicationContextAotGenerator().processAheadOfTime(context, code);
        code.writeGeneratedContent();
        assertThat(files.getGeneratedFiles(GeneratedFiles.Kind.SOURCE).keySet())
                .contains("dev/zkrecipes/spring/ElectionBeans__BeanDefinitions.java");
    }

    /** Code that was written ahead of time makes the bean of each election that was configured then. */
    @Test
    void electionOfAContextMadeAheadOfTime_namesItsProperty_ifThatIsNotSetAtTheStart() {
        boot.withPropertyValues(CONNECT)
                .withBean("billingElection", LeaderElection.class, () -> null, definition -> {
                    AbstractBeanDefinition made = (AbstractBeanDefinition) definition;
                    made.setInstanceSupplier(null);
                    made.setFactoryBeanName(ElectionBeans.class.getName());
                    made.setFactoryMethodName("election");
                    made.getConstructorArgumentValues().addGenericArgumentValue("billing");
                })
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOfSatisfying(
                                InvalidConfigurationPropertyValueException.class,
                                refused -> assertThat(refused.getName()).isEqualTo("zkrecipes.elections.billing.path"))
                        .hasMessageContaining("ahead of time"));
    }

    @Test
    void observers_areMadeForTheRegistriesThatThereAre() {
        ApplicationContextRunner registries = boot.withPropertyValues(CONNECT)
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(ObservationRegistry.class, ObservationRegistry::create);
        registries.run(context ->
                assertThat(context).hasSingleBean(LockMetrics.class).doesNotHaveBean(LockObservations.class));
        registries
                .withPropertyValues(
                        "zkrecipes.observers.metrics=false",
                        "zkrecipes.observers.observations=true",
                        "zkrecipes.observers.jfr=true")
                .run(context -> assertThat(context)
                        .doesNotHaveBean(LockMetrics.class)
                        .hasSingleBean(LockObservations.class)
                        .hasSingleBean(JfrLockObserver.class));
    }

    /** The application starts; what needs a lock hears why there is none. */
    @Test
    @Tag("H139")
    void identityThatFails_failsRequestsWithItsCause_andIsSeenInTheHealth() throws IOException {
        Path settings = Files.writeString(folder.resolve("client.properties"), "zookeeper.sasl.clientconfig=Orders\n");
        Configuration.setConfiguration(new Configuration() {
            @Override
            public AppConfigurationEntry @Nullable [] getAppConfigurationEntry(String name) {
                return null;
            }
        });
        try {
            boot.withPropertyValues(CONNECT, "zkrecipes.client-config=" + settings)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
                        assertThatThrownBy(new InterProcessMutex(client, "/orders")::acquire)
                                .isInstanceOf(LockAccessException.class)
                                .hasMessageContaining("the JAAS configuration has no section 'Orders': add it");
                        Health health = context.getBean(HealthIndicator.class).health();
                        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                        assertThat(health.getDetails()).containsEntry("connection", ConnectionState.AUTH_FAILED);
                    });
        } finally {
            Configuration.setConfiguration(null); // the one of the files is read again
        }
    }

    @Test
    void disabledStarter_makesNothing_andRefusesMethods() {
        boot.withPropertyValues("zkrecipes.enabled=false", "zkrecipes.elections.billing.path=/leaders/billing")
                .withBean(Orders.class)
                .run(context -> {
                    assertThat(context)
                            .hasNotFailed()
                            .doesNotHaveBean(ZooKeeperClient.class)
                            .doesNotHaveBean(LockRegistry.class)
                            .doesNotHaveBean(LockProvider.class)
                            .doesNotHaveBean(LeaderElection.class)
                            .doesNotHaveBean(LocksEndpoint.class)
                            .doesNotHaveBean(HealthIndicator.class);
                    assertThatThrownBy(() -> context.getBean(Orders.class).count("7"))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("Orders.count was not run: zkrecipes.enabled is false, so it has no")
                            .hasMessageContaining("zkrecipes.if-disabled=run");
                });
    }

    @Test
    void disabledStarter_mayRunMethodsWithoutLocks_asItsStartSays() {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            boot.withPropertyValues("zkrecipes.enabled=false", "zkrecipes.if-disabled=run")
                    .withBean(Orders.class)
                    .run(context -> {
                        Orders orders = context.getBean(Orders.class);
                        assertThat(orders.count("7") + orders.count("8")).isEqualTo(2);
                        assertThatThrownBy(() -> orders.ship(null))
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("but none with an argument for the lease");
                    });
        } finally {
            System.setErr(terminal);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).containsOnlyOnce("run without their locks");
    }

    static class Orders {
        @WithLock("/orders/{#id}")
        int count(String id) {
            return 1;
        }

        @WithLock("/orders")
        void ship(@Nullable Lease lease) {
            assertThat(lease).isNotNull();
        }
    }

    @Test
    void zooKeeper_isQuiet_unlessTheApplicationHasSetItsLevel() {
        LoggingSystem logs = Mockito.mock();
        ApplicationContextRunner logging = boot.withPropertyValues(CONNECT).withBean(LoggingSystem.class, () -> logs);
        logging.run(context -> Mockito.verify(logs).setLogLevel("org.apache.zookeeper", LogLevel.WARN));
        Mockito.clearInvocations(logs);
        Mockito.when(logs.getLoggerConfiguration("org.apache.zookeeper"))
                .thenReturn(new LoggerConfiguration("org.apache.zookeeper", LogLevel.INFO, LogLevel.INFO));
        logging.run(context -> Mockito.verify(logs, Mockito.never()).setLogLevel(Mockito.any(), Mockito.any()));
    }

    @Test
    void lockProvider_isThere_unlessTheApplicationHasOne() {
        boot.withPropertyValues(CONNECT)
                .run(context ->
                        assertThat(context.getBean(LockProvider.class)).isInstanceOf(ZooKeeperLockProvider.class));
        LockProvider own = Mockito.mock();
        boot.withPropertyValues(CONNECT)
                .withBean(LockProvider.class, () -> own)
                .run(context -> assertThat(context.getBean(LockProvider.class)).isSameAs(own));
    }

    @Test
    void electionWithoutAPath_isExplained() {
        boot.withPropertyValues(CONNECT, "zkrecipes.elections.billing.path=").run(context -> {
            FailureAnalysis analysis = new MissingPropertyAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .isEqualTo("The property zkrecipes.elections.billing.path is missing: it names the path of the"
                            + " election, and is not set.");
        });
    }

    @Test
    void application_mayBringItsOwnClient() {
        boot.withBean(ZooKeeperClient.class, () -> ZooKeeperClient.connect("127.0.0.1:2"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(ZooKeeperClient.class));
    }

    @Test
    void application_mayCustomizeTheClient() {
        boot.withPropertyValues(CONNECT)
                .withUserConfiguration(Customizing.class)
                .run(context -> assertThat(
                                context.getBean(ZooKeeperClient.class).ownerLabel())
                        .isEqualTo("customized"));
    }

    static final class Customizing {
        @Bean
        Consumer<ZooKeeperClientBuilder> label() {
            return builder -> builder.ownerLabel("customized");
        }
    }

    @Test
    void whatIsNotThere_isNotMissed() {
        boot.withPropertyValues(CONNECT)
                .withClassLoader(new FilteredClassLoader(
                        "org.springframework.integration",
                        "net.javacrumbs.shedlock",
                        "org.springframework.boot.actuate",
                        "org.springframework.boot.docker.compose",
                        "org.springframework.boot.testcontainers",
                        "org.springframework.transaction"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .hasSingleBean(ZooKeeperClient.class)
                        .doesNotHaveBean(HealthIndicator.class)
                        .doesNotHaveBean("lockRegistry")
                        .doesNotHaveBean("lockProvider"));
    }

    /** As in an application whose web starter brings no transactions. The filter above does not see what links. */
    @Test
    void lock_isReleased_whereThereAreNoTransactions() throws Exception {
        URL[] classes = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("spring-tx"))
                .map(StarterTest::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
            Method closes = Stream.of(loader.loadClass(CallHold.class.getName()).getDeclaredMethods())
                    .filter(method -> method.getName().equals("belongsToTransaction"))
                    .findFirst()
                    .orElseThrow();
            closes.setAccessible(true);
            assertThat(closes.invoke(null, (Object) null)).isEqualTo(false);
        }
    }

    private static URL url(String file) {
        try {
            return Path.of(file).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }

    /** Such as an executor, whose tasks call methods with locks and which has no reason to know of the client. */
    @Test
    void client_closesAfterBeansThatDoNotKnowIt() {
        Worker[] worker = new Worker[1];
        boot.withPropertyValues(CONNECT).withUserConfiguration(Working.class).run(context -> {
            worker[0] = context.getBean(Worker.class);
            worker[0].client = context.getBean(ZooKeeperClient.class);
        });
        assertThat(worker[0].atTheEnd).isEqualTo(ConnectionState.CONNECTING);
        assertThat(worker[0].client.connectionState()).isEqualTo(ConnectionState.CLOSED);
    }

    static final class Working {
        @Bean
        Worker worker() {
            return new Worker();
        }
    }

    static final class Worker implements AutoCloseable {
        private @Nullable ZooKeeperClient client;
        private @Nullable ConnectionState atTheEnd;

        @Override
        public void close() {
            atTheEnd = Objects.requireNonNull(client).connectionState();
        }
    }

    @Test
    void missingConnectString_isExplained() {
        boot.run(context -> {
            FailureAnalysis analysis = new MissingPropertyAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains("The property zkrecipes.connect-string is missing");
            assertThat(analysis.getAction()).contains("Set zkrecipes.connect-string", "zkrecipes.enabled=false");
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            zkrecipes.connect-strng=zk:2181    | zkrecipes.connect-strng
            zkrecipes.sesion-timeout=5s        | zkrecipes.sesion-timeout
            zkrecipes.session-timeout=soon     | zkrecipes.session-timeout
            zkrecipes.session-timeout=1ms      | zkrecipes.session-timeout
            zkrecipes.connect-string=zk:port   | zkrecipes.connect-string
            zkrecipes.close-timeout=-1s        | zkrecipes.close-timeout
            zkrecipes.namespace=shop           | zkrecipes.namespace
            zkrecipes.slow-after=0s            | zkrecipes.slow-after
            zkrecipes.wait-at-most=-1s         | zkrecipes.wait-at-most
            zkrecipes.auth-file=/no/such/file  | zkrecipes.auth-file
            zkrecipes.client-config=/no/file   | zkrecipes.client-config
            zkrecipes.ssl.bundle=none          | zkrecipes.ssl.bundle
            zkrecipes.observers.metrics=maybe  | zkrecipes.observers.metrics
            zkrecipes.enabled=yes              | zkrecipes.enabled
            zkrecipes.enabled=maybe            | zkrecipes.enabled
            zkrecipes.if-disabled=perhaps      | zkrecipes.if-disabled
            zkrecipes.acl=mine                 | zkrecipes.acl
            zkrecipes.acl=creator              | zkrecipes.acl
            zkrecipes.elections.a.path=leaders | zkrecipes.elections.a.path
            zkrecipes.elections.a.size=3       | zkrecipes.elections.a.size
            """)
    void wrongProperty_failsTheStart_byItsName(String property, String name) {
        boot.withPropertyValues(CONNECT, property)
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining(name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"digest user secret", "digest:secret", "world:", "\uFEFFworld:secret", "# nothing"})
    void wrongCredentials_areNotShown(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("credentials"), text);
        boot.withPropertyValues(CONNECT, "zkrecipes.auth-file=" + file)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasStackTraceContaining("zkrecipes.auth-file")
                        .extracting(failure -> stackTrace(failure))
                        .asString()
                        .doesNotContain("secret"));
    }

    private static String stackTrace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void properties_showNoSecret() throws IOException {
        Path credentials = Files.writeString(folder.resolve("credentials"), "# mine\n\ndigest:orders:secret\n");
        Path config = Files.writeString(folder.resolve("config"), "zookeeper.sasl.client.username=secret\n");
        boot.withPropertyValues(CONNECT, "zkrecipes.auth-file=" + credentials, "zkrecipes.client-config=" + config)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .getBean(ZkRecipesProperties.class)
                        .asString()
                        .contains("credentials")
                        .doesNotContain("secret"));
    }

    @Test
    void unknownBundle_isNamed() {
        boot.withPropertyValues(CONNECT, "zkrecipes.ssl.bundle=none")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("SSL bundle name 'none' cannot be found"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zookeeper.ssl.keyStore.location=/keys.p12",
                "zookeeper.ssl.trustStore.password=secret",
                "zookeeper.ssl.protocol=TLSv1.3",
                "zookeeper.ssl.context.supplier.class=Mine",
                "zookeeper.client.secure=false"
            })
    void bundle_besideItsOwnSettingsInAFile_isRefused(String line) throws IOException {
        Path settings = Files.writeString(folder.resolve("client.properties"), line);
        boot.withPropertyValues(CONNECT, "zkrecipes.ssl.bundle=none", "zkrecipes.client-config=" + settings)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("zkrecipes.client-config")
                        .hasStackTraceContaining(
                                "the file sets " + line.substring(0, line.indexOf('=')) + ", and so does"));
    }

    /** Which no bundle decides. */
    @Test
    void bundle_besideOtherSettingsInAFile_isNotRefused() throws IOException {
        Path settings =
                Files.writeString(folder.resolve("client.properties"), "zookeeper.ssl.hostnameVerification=false");
        boot.withPropertyValues(CONNECT, "zkrecipes.ssl.bundle=zk", "zkrecipes.client-config=" + settings)
                .withBean(SslBundles.class, () -> new DefaultSslBundleRegistry("zk", SslBundle.systemDefault()))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void connectionDetailsOfTheApplication_takeThePlaceOfTheProperty() {
        ZooKeeperConnectionDetails own = () -> "127.0.0.1:1,no port:x";
        boot.withBean(ZooKeeperConnectionDetails.class, () -> own)
                .withPropertyValues(CONNECT)
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("no port:x"));
        boot.withBean(ZooKeeperConnectionDetails.class, () -> () -> "127.0.0.1:1")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(ZooKeeperClient.class));
    }

    static class Refused {
        static class PrivateMethod {
            @WithLock("/refused")
            @SuppressWarnings("UnusedMethod")
            private void refused() {}
        }

        static class StaticMethod {
            @WithLock("/refused")
            static void refused() {}
        }

        static class FinalMethod {
            @WithLock("/refused")
            final void refused() {}
        }

        static class LaterByFuture {
            @WithLock("/refused")
            CompletableFuture<String> refused() {
                throw new AssertionError();
            }
        }

        static class ArgumentWithoutAName {
            @WithLock("/refused/{#weight}")
            void refused(double weight) {}
        }

        static class SkippedPrimitive {
            @WithLock(value = "/refused", ifBusy = WithLock.IfBusy.SKIP)
            int refused() {
                throw new AssertionError();
            }
        }

        static class RelativePath {
            @WithLock("refused/{#id}")
            void refused(String id) {}
        }

        static class PathOfAnArgumentOnly {
            @WithLock("{#id}")
            void refused(String id) {}
        }

        static class OpenBrace {
            @WithLock("/refused/{#id")
            void refused(String id) {}
        }

        static class NoDuration {
            @WithLock(value = "/refused", waitAtMost = "soon")
            void refused() {}
        }

        static class NoTimeToHold {
            @WithLock(value = "/refused", holdAtMost = "0s")
            void refused() {}
        }

        static class NegativeDuration {
            @WithLock(value = "/refused", waitAtMost = "-1s")
            void refused() {}
        }

        static class UnknownPlaceholder {
            @WithLock("/refused/${no.such.property}")
            void refused() {}
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Refused.PrivateMethod.class,
                Refused.StaticMethod.class,
                Refused.FinalMethod.class,
                Refused.LaterByFuture.class,
                Refused.ArgumentWithoutAName.class,
                Refused.SkippedPrimitive.class,
                Refused.RelativePath.class,
                Refused.PathOfAnArgumentOnly.class,
                Refused.OpenBrace.class,
                Refused.NoDuration.class,
                Refused.NegativeDuration.class,
                Refused.NoTimeToHold.class,
                Refused.UnknownPlaceholder.class
            })
    void methodThatCannotHaveItsLock_failsTheStart_byItsName(Class<?> bean) {
        boot.withPropertyValues(CONNECT)
                .withBean(bean)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith("@WithLock of " + bean.getSimpleName() + ".refused: "));
    }

    static class BesideAFineOne {
        static class OfPrivateMethod extends Refused.PrivateMethod {
            @WithLock("/fine")
            void fine() {}
        }

        static class OfStaticMethod extends Refused.StaticMethod {
            @WithLock("/fine")
            void fine() {}
        }

        static class OfFinalMethod extends Refused.FinalMethod {
            @WithLock("/fine")
            void fine() {}
        }
    }

    /** Spring looks at the methods of a bean until the first one that a proxy concerns. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                BesideAFineOne.OfPrivateMethod.class,
                BesideAFineOne.OfStaticMethod.class,
                BesideAFineOne.OfFinalMethod.class
            })
    @Tag("H245")
    void methodThatCannotHaveItsLock_failsTheStart_alsoBesideAMethodThatCan(Class<?> bean) {
        boot.withPropertyValues(CONNECT)
                .withBean(bean)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith(
                                "@WithLock of " + bean.getSimpleName() + ".refused: a private, static"));
    }

    @Test
    void methodsThatCanHaveTheirLock_areProxied_evenWithoutAop() {
        boot.withPropertyValues(CONNECT, "spring.aop.auto=false", "shop.root=/shop", "shop.wait=2s")
                .withBean(Fine.class)
                .run(context ->
                        assertThat(context.getBean(Fine.class).getClass()).isNotEqualTo(Fine.class));
    }

    /** As Spring Data and MyBatis make beans of interfaces. */
    @Test
    void methodOfAProxiedInterface_isLocked_byTheNameOfTheInterface() throws NoSuchMethodException {
        Repository made = (Repository) Proxy.newProxyInstance(
                Repository.class.getClassLoader(), new Class<?>[] {Repository.class}, (proxy, method, given) -> null);
        boot.withPropertyValues(CONNECT)
                .withBean(Repository.class, () -> made)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .getBean(Repository.class)
                        .matches(AopUtils::isAopProxy));
        LockedMethods methods = new LockedMethods(text -> text);
        Method save = Repository.class.getDeclaredMethod("save", String.class);
        assertThat(methods.matches(save, made.getClass())).isTrue();
        assertThat(methods.of(save, made.getClass()).name()).isEqualTo("Repository.save");
    }

    interface Repository {
        @WithLock(value = "/repository/{#id}", ifBusy = WithLock.IfBusy.SKIP)
        Object save(String id);
    }

    @Test
    void annotationOfAnInterface_isFound_whereTheMethodIsInherited() throws NoSuchMethodException {
        LockedMethods methods = new LockedMethods(text -> text);
        Method save = Inherited.class.getDeclaredMethod("save", String.class);
        assertThat(methods.matches(save, Inherited.class)).isFalse();
        assertThat(methods.matches(save, Inheriting.class)).isTrue();
        assertThat(methods.of(save, Inheriting.class).name()).isEqualTo("Inheriting.save");
    }

    static class Inherited {
        public Optional<String> save(String id) {
            throw new AssertionError();
        }
    }

    static class Inheriting extends Inherited implements Repository {}

    @Test
    void skippedCall_byAnInterfaceThatKnowsNoOptional_returnsAnEmptyOne() throws NoSuchMethodException {
        LockedMethods methods = new LockedMethods(text -> text);
        Method asCalled = Repository.class.getDeclaredMethod("save", String.class);
        assertThat(methods.matches(asCalled, Skipping.class)).isTrue();
        assertThat(methods.of(asCalled, Skipping.class).skipped()).isEqualTo(Optional.empty());
    }

    static class Skipping implements Repository {
        @Override
        public Optional<String> save(String id) {
            throw new AssertionError();
        }
    }

    static class Fine {
        @WithLock(value = "${shop.root}/{#id}/x{#a1}", waitAtMost = "${shop.wait}", ifBusy = WithLock.IfBusy.SKIP)
        Optional<String> fine(String id, int number) {
            throw new AssertionError();
        }
    }

    @Test
    void locksGoingOn_areShownWithTheirAges_oldestFirst() {
        long[] now = {0};
        LocalLocks locks = new LocalLocks(() -> now[0]);
        LockObserver.Progress first = locks.onWaiting(request("/first", Optional.of("orders")));
        now[0] = 2_000_000_000L;
        LockObserver.Progress second = locks.onWaiting(request("/second", Optional.empty()));
        now[0] = 3_000_000_000L;
        String thread = Thread.currentThread().getName();
        assertThat(locks.waiting())
                .containsExactly(
                        new LocalLocks.Lock("/first", "orders", "mutex", thread, 3),
                        new LocalLocks.Lock("/second", null, "mutex", thread, 1));
        first.onGranted(Duration.ofSeconds(3));
        second.onAbandoned(Duration.ofSeconds(1), LockObserver.Ending.TIMED_OUT);
        now[0] = 4_500_000_000L;
        assertThat(locks.held()).containsExactly(new LocalLocks.Lock("/first", "orders", "mutex", thread, 1.5));
        assertThat(locks.waiting()).isEmpty();
        first.onLost(Duration.ofSeconds(2), "the session is over");
        assertThat(List.of(locks.held(), locks.waiting())).allMatch(List::isEmpty);
    }

    private static LockObserver.Request request(String path, Optional<String> name) {
        return new LockObserver.Request(path, name, "lock-");
    }

    @Test
    void health_saysThatTheClientIsClosed_orWhatItEndedOf() throws InterruptedException {
        ZooKeeperClient client = Mockito.mock();
        Mockito.when(client.connectionState()).thenReturn(ConnectionState.CLOSED);
        Mockito.when(client.ownerLabel()).thenReturn("shop-1");
        Mockito.when(client.awaitConnected(Duration.ZERO))
                .thenThrow(new ClientClosedException("it has ended itself", new NoSuchMethodError("getTestable")))
                .thenThrow(new ClientClosedException("it is closed"));
        LocksEndpoint state = new LocksEndpoint(
                client, new LocalLocks(() -> 0), new LockedCalls(client, Duration.ZERO), Mockito.mock());
        assertThat(state.health()).containsEntry("client", "ended itself: java.lang.NoSuchMethodError: getTestable");
        assertThat(state.health()).containsEntry("client", "closed");
        Mockito.when(client.connectionState()).thenReturn(ConnectionState.CONNECTED);
        assertThat(state.health()).doesNotContainKey("client");
    }

    @Test
    void negativeTime_isRefused() {
        assertThatThrownBy(() -> LockedMethod.notNegative(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}

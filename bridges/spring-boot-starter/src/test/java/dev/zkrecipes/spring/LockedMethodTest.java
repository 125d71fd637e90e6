// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.ResolvableType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Which methods are refused, when the context starts or at a call, and why. */
class LockedMethodTest {

    private static LockedMethod read(Method method, Class<?> bean) {
        return LockedMethod.of(
                method, bean, Objects.requireNonNull(method.getAnnotation(WithLock.class)), text -> text);
    }

    private static Stream<Method> methods(Class<?> bean) {
        return Stream.of(bean.getDeclaredMethods()).filter(method -> method.isAnnotationPresent(WithLock.class));
    }

    /** Each of these methods works on when it has returned. */
    abstract static class Later<E extends Future<?>> {
        @WithLock("/x")
        abstract CompletableFuture<String> future();

        @WithLock("/x")
        abstract Mono<String> mono();

        @WithLock("/x")
        abstract Flux<String> flux();

        @WithLock("/x")
        abstract Flow.Publisher<String> publisher();

        @WithLock("/x")
        abstract Callable<String> callable();

        @WithLock("/x")
        abstract Stream<String> stream();

        @WithLock("/x")
        abstract IntStream numbers();

        @WithLock("/x")
        abstract Iterator<String> iterator();

        @WithLock("/x")
        abstract DeferredResult<String> deferred();

        @WithLock("/x")
        abstract WebAsyncTask<String> webTask();

        @WithLock("/x")
        abstract ResponseBodyEmitter emitter();

        @WithLock("/x")
        abstract SseEmitter events();

        @WithLock("/x")
        abstract StreamingResponseBody body();

        @WithLock("/x")
        abstract ResponseEntity<StreamingResponseBody> entity();

        @WithLock("/x")
        abstract ResponseEntity<List<Mono<String>>> entityOfAList();

        @WithLock("/x")
        abstract List<? extends Future<String>> list();

        @WithLock("/x")
        abstract Map<String, Optional<Stream<String>>> map();

        @WithLock("/x")
        abstract Future<?>[] array();

        @WithLock("/x")
        abstract List<E>[] bounded();
    }

    static Stream<Method> later() {
        return methods(Later.class);
    }

    @ParameterizedTest
    @MethodSource("later")
    @Tag("H134")
    void methodWhoseWorkGoesOn_isRefusedByItsType(Method method) {
        assertThatThrownBy(() -> read(method, Later.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("its work goes on when it has returned");
    }

    @Test
    @Tag("H134")
    void typeVariable_isThatOfTheBean() throws NoSuchMethodException {
        Method method = Returning.class.getDeclaredMethod("ask");
        assertThatCode(() -> read(method, ReturningText.class)).doesNotThrowAnyException();
        assertThatThrownBy(() -> read(method, ReturningMono.class)).hasMessageContaining("Mono");
    }

    abstract static class Returning<T> {
        @WithLock("/x")
        abstract List<T> ask();
    }

    abstract static class ReturningText extends Returning<String> {}

    abstract static class ReturningMono extends Returning<Mono<String>> {}

    /** Each of these methods is fine, as far as its type says. */
    abstract static class Done<E extends Enum<E>> {
        @WithLock("/x")
        abstract void nothing();

        @WithLock("/x")
        abstract Object anything();

        @WithLock("/x")
        abstract List<?> list();

        @WithLock("/x")
        abstract ResponseEntity<String> entity();

        @WithLock("/x")
        abstract Map<String, List<int[]>> map();

        @WithLock("/x")
        abstract E comparedWithItself();

        @WithLock("/x/{#a0}/{#a1}/{#a2}/{#a3}")
        abstract <T extends Comparable<? super T>> T arguments(
                Object any, Comparable<?> number, Serializable text, Callable<?> mayBeAnEnum);

        @WithLock("/x/{#day.time}")
        abstract void property(Date day);
    }

    static Stream<Method> done() {
        return methods(Done.class);
    }

    @ParameterizedTest
    @MethodSource("done")
    void otherMethods_areNotRefused(Method method) {
        assertThatCode(() -> read(method, Done.class)).doesNotThrowAnyException();
    }

    static List<Object> unfinished() {
        return List.of(
                new CompletableFuture<>(),
                Mono.just("x"),
                new SseEmitter(),
                ResponseEntity.ok(new SseEmitter()),
                ResponseEntity.ok((StreamingResponseBody) out -> {}),
                Optional.of(Stream.of("x")),
                List.of("x", new FutureTask<>(() -> "x")),
                Map.of("x", List.of(new DeferredResult<>())),
                new ArrayList<>(List.of(ResponseEntity.ok(Optional.of(List.of().iterator())))));
    }

    @ParameterizedTest
    @MethodSource("unfinished")
    @Tag("H134")
    void resultThatHidesLaterWork_isRefusedAtTheCall(Object result) throws NoSuchMethodException {
        LockedMethod method = read(Done.class.getDeclaredMethod("anything"), Done.class);
        assertThatThrownBy(() -> method.requireEnded(result))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("@WithLock of Done.anything: its work goes on when it has returned ");
    }

    /** Or lists of a database would be loaded, and large ones copied, for nothing. */
    @Test
    void resultWhoseTypeSaysWhatItHas_isNotLookedInto() throws NoSuchMethodException {
        List<String> lazy = Mockito.mock();
        read(Done.class.getDeclaredMethod("entity"), Done.class).requireEnded(ResponseEntity.ok(lazy));
        read(Done.class.getDeclaredMethod("anything"), Done.class).requireEnded(lazy);
        Mockito.verifyNoInteractions(lazy);
    }

    /** Each of these methods has a lock of which an argument makes two. */
    abstract static class Ambiguous<T> {
        @WithLock("/x/{#day}")
        abstract void date(Date day);

        @WithLock("/x/{#id}-{ #a1 }")
        abstract void weight(String id, double weight);

        @WithLock("/x/{#p0}")
        abstract void set(Set<String> ids);

        @WithLock("/x/{#ids}")
        abstract void array(String[] ids);

        @WithLock("/x/{#id}")
        abstract void variable(T id);
    }

    abstract static class AmbiguousNumber extends Ambiguous<BigDecimal> {}

    static Stream<Method> ambiguous() {
        return methods(Ambiguous.class);
    }

    @ParameterizedTest
    @MethodSource("ambiguous")
    @Tag("H133")
    void argumentThatNeverHasAName_isRefusedByItsType(Method method) {
        assertThatThrownBy(() -> read(method, AmbiguousNumber.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("may have another text in another process");
    }

    abstract static class Mistyped {
        @WithLock("/x/{#idd}")
        abstract void anotherName(String id);

        @WithLock("/x/{'#no' + #id + #idd}")
        abstract void amongOthers(String id);
    }

    static Stream<Method> mistyped() {
        return methods(Mistyped.class);
    }

    @ParameterizedTest
    @MethodSource("mistyped")
    void nameThatNoArgumentHas_isRefused_withThoseThatThereAre(Method method) {
        assertThatThrownBy(() -> read(method, Mistyped.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("@WithLock of Mistyped." + method.getName() + ": {")
                .hasMessageEndingWith("#idd} is none of [#a0, #id, #p0, #root, #this]; names need -parameters");
    }

    abstract static class Unbraced {
        @WithLock("/x/#id")
        abstract void path(String id);
    }

    @Test
    void argumentOutsideBraces_isRefused() throws NoSuchMethodException {
        Method method = Unbraced.class.getDeclaredMethod("path", String.class);
        assertThatThrownBy(() -> read(method, Unbraced.class))
                .hasMessage("@WithLock of Unbraced.path: /x/#id has \"#\" outside braces: write {#id}");
    }

    enum Size {
        LARGE {
            @Override
            public String toString() {
                return "quite large";
            }
        }
    }

    abstract static class Keys {
        @WithLock("/x/{#a}-{#b}")
        abstract void two(Object a, Object b);

        @WithLock("/x/{#a + '-' + #b}")
        abstract void together(Object a, Object b);

        @WithLock("/x/{'#no' + #a}-{\"#none\" + #b}")
        abstract void withText(Object a, Object b);
    }

    private static String path(String method, Object... arguments) throws NoSuchMethodException {
        Method keys = Keys.class.getDeclaredMethod(method, Object.class, Object.class);
        MethodInvocation call = Mockito.mock();
        Mockito.when(call.getThis()).thenReturn(new Object());
        Mockito.when(call.getArguments()).thenReturn(arguments);
        return read(keys, Keys.class).path(call);
    }

    @ParameterizedTest
    @ValueSource(strings = {"two", "together"})
    @Tag("H133")
    void value_hasItsNameInEveryExpression(String method) throws NoSuchMethodException {
        assertThat(path(method, 7L, Size.LARGE)).isEqualTo("/x/7-LARGE");
        for (Object value : List.of(1.0, new BigDecimal("1.00"), new Date(), Set.of("x"), "\uD800")) {
            assertThatThrownBy(() -> path(method, "x", value))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("@WithLock of Keys." + method + ": {#")
                    .hasMessageContaining("cannot name a lock");
        }
    }

    record Order(Object id) {}

    /** Spring's own conversion to text knows nothing of these types, and would take what {@code toString} returns. */
    @Test
    @Tag("H133")
    void value_hasItsNameInEveryExpression_alsoIfSpringDoesNotConvertItsType() throws NoSuchMethodException {
        OffsetDateTime moment = OffsetDateTime.parse("2030-06-01T12:00:00+02:00");
        for (String method : List.of("two", "together")) {
            assertThat(path(method, "x", moment)).isEqualTo("/x/x-2030-06-01T10:00:00Z");
            for (Object value : List.of(new Object(), new Order(7))) {
                assertThatThrownBy(() -> path(method, "x", value))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("cannot name a lock");
            }
        }
    }

    interface Store<T> {
        @WithLock("/store")
        void put(T order);
    }

    static class Putting {
        public void put(String order) {}

        public void put(Integer number) {}
    }

    static class Orders extends Putting implements Store<String> {}

    @Test
    @Tag("H134")
    void annotationOfAGenericInterface_countsForAnInheritedMethod() throws NoSuchMethodException {
        LockedMethods methods = new LockedMethods(text -> text);
        assertThat(methods.matches(Putting.class.getMethod("put", String.class), Orders.class))
                .isTrue();
        assertThat(methods.matches(Putting.class.getMethod("put", Integer.class), Orders.class))
                .isFalse();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withPropertyValues("zkrecipes.enabled=false")
                .withBean(Orders.class)
                .run(context -> {
                    Store<String> store = context.<Store<String>>getBeanProvider(
                                    ResolvableType.forClassWithGenerics(Store.class, String.class))
                            .getObject();
                    assertThatThrownBy(() -> store.put("7")).hasMessageContaining("Orders.put was not run");
                });
    }

    interface Batch {
        @WithLock("/batch")
        <T> void runAll(T[] jobs);
    }

    static class RunningAll {
        public void runAll(Object[] jobs) {}
    }

    static class Jobs extends RunningAll implements Batch {}

    @Test
    @Tag("H134")
    void annotationOfAGenericArray_countsForAnInheritedMethodOfItsErasure() throws NoSuchMethodException {
        assertThat(new LockedMethods(text -> text)
                        .matches(RunningAll.class.getMethod("runAll", Object[].class), Jobs.class))
                .isTrue();
    }

    static class Numbers extends ArrayList<String> {
        private static final long serialVersionUID = 1L;
    }

    /** A proxy is a subclass in the package of the bean, and cannot override it. */
    @Test
    @Tag("H134")
    void methodThatOnlyAnotherPackageSees_isRefused() throws NoSuchMethodException {
        Method method = ArrayList.class.getDeclaredMethod("elementData", int.class);
        WithLock any = methods(Orders.class.getInterfaces()[0]).toList().get(0).getAnnotation(WithLock.class);
        assertThatThrownBy(() -> LockedMethod.of(method, Numbers.class, Objects.requireNonNull(any), text -> text))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "@WithLock of Numbers.elementData: a method that only another package sees is called without"
                                + " the lock: make it protected or public");
    }

    @Test
    void quotedText_namesNoArgument() throws NoSuchMethodException {
        assertThat(path("withText", 7L, "x")).isEqualTo("/x/#no7-#nonex");
    }

    static class Initializing implements InitializingBean {
        @Override
        @WithLock("/x")
        public void afterPropertiesSet() {
            throw new AssertionError("without the lock");
        }
    }

    static class Constructed {
        @PostConstruct
        @WithLock("/x")
        void warmUp() {
            throw new AssertionError("without the lock");
        }
    }

    static class Destroyed {
        @PreDestroy
        @WithLock("/x")
        void flush() {}
    }

    static class Disposable implements DisposableBean {
        @Override
        @WithLock("/x")
        public void destroy() {}
    }

    interface Warm {
        @WithLock("/x")
        void warmUp();
    }

    static class WarmByItsInterface implements Warm {
        @Override
        @PostConstruct
        public void warmUp() {
            throw new AssertionError("without the lock");
        }
    }

    static class Warming {
        @PostConstruct
        void warmUp() {}
    }

    static class CalledByItsParent extends Warming {
        @Override
        @WithLock("/x")
        void warmUp() {
            throw new AssertionError("without the lock");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Initializing.class,
                Constructed.class,
                Destroyed.class,
                Disposable.class,
                WarmByItsInterface.class,
                CalledByItsParent.class,
                WarmByDefault.class
            })
    @Tag("H134")
    void methodThatSpringCallsPastTheProxy_isRefusedBeforeItRuns(Class<?> bean) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withPropertyValues("zkrecipes.connect-string=127.0.0.1:1")
                .withBean(bean)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith("@WithLock of " + bean.getSimpleName() + ".")
                        .hasMessageContaining("without the lock"));
    }

    interface Stopping {
        @PreDestroy
        void stop();

        @PostConstruct
        default void warmUp() {}
    }

    static class Stopped implements Stopping {
        boolean isStopped;

        @Override
        @WithLock("/x")
        public void stop() {
            isStopped = true;
        }
    }

    static class WarmByDefault extends Stopped {
        @Override
        @WithLock("/x")
        public void warmUp() {
            throw new AssertionError("without the lock");
        }
    }

    /** Spring calls methods of classes, and default methods. */
    @Test
    @Tag("H134")
    void annotationOfAnAbstractMethodOfAnInterface_isNoCallBySpring() {
        Stopped bean = new Stopped();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withPropertyValues("zkrecipes.enabled=false")
                .withBean(Stopped.class, () -> bean)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(bean.isStopped).isFalse();
    }

    static class Early {
        @WithLock("/x")
        void work() {}
    }

    /** Spring makes it, and what it needs, before the processor that makes proxies. */
    static class Processor implements BeanPostProcessor, PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    static class Processing {
        @Bean
        static Processor processor(Early early) {
            return new Processor();
        }
    }

    static class FactoryProcessing {
        @Bean
        static BeanFactoryPostProcessor processor(Early early) {
            return factory -> {};
        }
    }

    static class RegistryProcessing {
        @Bean
        static BeanDefinitionRegistryPostProcessor processor(Early early) {
            return registry -> {};
        }
    }

    /** Spring makes it, and what it needs, together with all that have an order, before it calls any of them. */
    static class OrderedProcessor implements BeanDefinitionRegistryPostProcessor, Ordered {
        @Override
        public int getOrder() {
            return 0;
        }

        @Override
        public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {}
    }

    static class OrderedRegistryProcessing {
        @Bean
        static OrderedProcessor processor(Early early) {
            return new OrderedProcessor();
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Processing.class,
                FactoryProcessing.class,
                RegistryProcessing.class,
                OrderedRegistryProcessing.class
            })
    @Tag("H134")
    void beanThatIsMadeBeforeProxiesAre_isRefused(Class<?> processing) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withPropertyValues("zkrecipes.enabled=false")
                .withBean(Early.class)
                .withUserConfiguration(processing)
                .run(context -> assertThat(NestedExceptionUtils.getMostSpecificCause(
                                Objects.requireNonNull(context.getStartupFailure(), "it has started")))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith("@WithLock of Early.work: ")
                        .hasMessageContaining("without the lock"));
    }

    static class EarlyProduct extends Early {}

    static class Producing implements FactoryBean<EarlyProduct> {
        @Override
        public EarlyProduct getObject() {
            return new EarlyProduct();
        }

        @Override
        public Class<?> getObjectType() {
            return EarlyProduct.class;
        }
    }

    static class ProductProcessing {
        @Bean
        static Processor processor(EarlyProduct early) {
            return new Processor();
        }
    }

    /** As Spring Data makes repositories. */
    @Test
    @Tag("H134")
    void productThatIsMadeBeforeProxiesAre_isRefused() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withPropertyValues("zkrecipes.enabled=false")
                .withBean(Producing.class)
                .withUserConfiguration(ProductProcessing.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith("@WithLock of EarlyProduct.work: ")
                        .hasMessageContaining("without the lock"));
    }

    static class ScopedProcessing {
        @Bean
        @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        static EarlyProduct scoped() {
            return new EarlyProduct();
        }

        @Bean
        static Processor processor(EarlyProduct early) {
            return new Processor();
        }
    }

    /** Each call finds a bean that is made when proxies are. */
    @Test
    @Tag("H134")
    void scopedProxyThatIsMadeBeforeProxiesAre_isNotRefused() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withPropertyValues("zkrecipes.enabled=false")
                .withUserConfiguration(ScopedProcessing.class)
                .run(context -> assertThatThrownBy(() ->
                                context.getBean("scoped", EarlyProduct.class).work())
                        .hasMessageContaining("EarlyProduct.work was not run"));
    }

    static class Advising implements MethodInterceptor {
        @Override
        public @Nullable Object invoke(MethodInvocation call) throws Throwable {
            return call.proceed();
        }

        @WithLock("/x")
        void work() {}
    }

    /** Spring makes no proxy of what proxies are made of. */
    @Test
    @Tag("H134")
    void adviceWithALock_isRefused() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withPropertyValues("zkrecipes.enabled=false")
                .withBean(Advising.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageStartingWith("@WithLock of Advising.work: ")
                        .hasMessageContaining("without the lock"));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** {@link LockDriverContract} finds what is wrong with a driver, and says by which rule; a sound one passes. */
class BrokenDriversTest {
    /** What the suite below plays with; the tests run one after the other. */
    private static List<LockDriver> played = List.of();

    /** Of two names: a pair of requests may hold together. */
    static class Suite extends LockDriverContract {
        @Override
        protected List<LockDriver> drivers() {
            return played;
        }

        @Override
        protected boolean compatible(List<LockNode> holders) {
            return holders.size() <= 2;
        }
    }

    /** Of which no two b may hold together, either. */
    static class SuiteOfOneB extends Suite {
        @Override
        protected boolean compatible(List<LockNode> holders) {
            return super.compatible(holders)
                    && holders.stream()
                                    .filter(node -> node.payload().equals("b"))
                                    .count()
                            <= 1;
        }
    }

    /** Makes the drivers anew in each call, as each lock object does. */
    static class SuiteOfNew extends Suite {
        @Override
        protected List<LockDriver> drivers() {
            return BrokenDrivers.equalToItself();
        }
    }

    static Stream<Arguments> broken() {
        return Stream.of(
                found(
                        "in company",
                        BrokenDrivers.deciding(BrokenDrivers::inCompany),
                        "law1_",
                        "law 1: granted is pair.a(2) behind [pair.a(1)], but not pair.a(2) behind []"),
                found(
                        "pair that watches one",
                        BrokenDrivers.deciding(BrokenDrivers::pairThatWatchesOne),
                        "law2_",
                        "law 2: pair.a(3) behind [pair.a(1), pair.a(2)] waits for [pair.a(2)], "
                                + "but granted is pair.a(3) behind [pair.a(2)]"),
                found(
                        "beside anybody",
                        BrokenDrivers.deciding(BrokenDrivers::besideAnybody),
                        "requestsGranted",
                        "but not compatible, are [pair.a(1), pair.a(2), pair.a(3)]"),
                found(
                        "overtaking",
                        BrokenDrivers.inOrder(BrokenDrivers::overtaking),
                        "law4_",
                        "law 4: granted is pair.b(3) behind [pair.b(1), pair.a(2)], though somebody in front is not"),
                found(
                        "pair that sends others away",
                        BrokenDrivers.deciding(BrokenDrivers::pairThatSendsOthersAway),
                        "law5_",
                        "law 5: refused is pair.a(3) behind [pair.a(1), pair.a(2)], but not pair.a(3) behind []"),
                found(
                        "busy",
                        BrokenDrivers.deciding(BrokenDrivers::busy),
                        "requestCompatible",
                        "but the last one is refused, though not when it is alone"),
                found(
                        "alone",
                        BrokenDrivers.deciding(BrokenDrivers::alone),
                        "requestCompatible",
                        "but the last one waits"),
                found("nobody", BrokenDrivers.deciding(BrokenDrivers::nobody), "loneRequest", "Never"),
                found(
                        "on who is gone",
                        BrokenDrivers.deciding(BrokenDrivers::onWhoIsGone),
                        "wait_isOnlyFor",
                        "waits for"),
                found(
                        "on itself",
                        BrokenDrivers.deciding(BrokenDrivers::onItself),
                        "wait_isOnlyFor",
                        "waits for [pair.a(3)]"),
                found(
                        "on nobody",
                        BrokenDrivers.deciding(BrokenDrivers::onNobody),
                        "everyQuestion",
                        "would wait forever"),
                found(
                        "no answer",
                        BrokenDrivers.deciding(BrokenDrivers::withoutAnAnswer),
                        "everyQuestion",
                        "has no answer: null"),
                found(
                        "sorts",
                        BrokenDrivers.deciding(BrokenDrivers::sortingWhatItIsGiven),
                        "everyQuestion",
                        "Unsupported"),
                found(
                        "by name",
                        BrokenDrivers.deciding(BrokenDrivers::byName),
                        "answer_doesNotDependOnIds",
                        "ids in another"),
                found("impatient", BrokenDrivers.deciding(BrokenDrivers.impatient()), "sameQuestion", "asked again"),
                found("equal to all", BrokenDrivers.equalToAll(), "driver_isAValue", "the driver of another request"),
                found(
                        "by its own field",
                        BrokenDrivers.byItsOwnField(),
                        "answer_doesNotDependOnTheDriver",
                        "asked of pair."),
                found(
                        "begins by another rule",
                        BrokenDrivers.beginningBy(BrokenDrivers::alone),
                        "initialSharedRule",
                        "under the initial rule"),
                found("its own name unknown", BrokenDrivers.named("pears.a-"), "nodeOfEachRequest", "does not know"),
                found("name with a dash", BrokenDrivers.named("pair.a-b-"), "nodeName_isLegal", "pair.a-b-"),
                found(
                        "payload too long",
                        BrokenDrivers.named(BrokenDrivers.KIND + "x".repeat(81) + "-"),
                        "nodeName_isLegal",
                        "80 characters"),
                found(
                        "worn out numbers",
                        BrokenDrivers.reading(BrokenDrivers::onlyOrdinary, BrokenDrivers::pair),
                        "numberOfAWornOut",
                        "2147483647"),
                found(
                        "other kinds",
                        BrokenDrivers.reading(BrokenDrivers::anything, BrokenDrivers::pair),
                        "nodeOfAnotherLock",
                        "which is of no kind"),
                found(
                        "payload forgotten",
                        BrokenDrivers.reading(BrokenDrivers::withoutPayload, BrokenDrivers::pair),
                        "nodeOfEachRequest",
                        "kind and payload"));
    }

    private static Arguments found(String what, List<LockDriver> drivers, String rule, String message) {
        return Arguments.of(what, drivers, rule, message);
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource("broken")
    void brokenDriver_failsByTheRuleItBreaks(String what, List<LockDriver> drivers, String rule, String message) {
        assertThat(play(drivers).failed().stream()).anySatisfy(failure -> {
            assertThat(failure.getTestDescriptor().getDisplayName()).startsWith(rule);
            assertThat(failure.getPayload()).asString().contains(message);
        });
    }

    @Test
    void soundDriver_passes() {
        Events tests = play(BrokenDrivers.deciding(BrokenDrivers::pair));
        assertThat(tests.failed().stream()).isEmpty();
        assertThat(tests.succeeded().count()).isEqualTo(tests.started().count()).isGreaterThanOrEqualTo(13);
    }

    /** One holds, two may, and the third waits, because of one that waits itself. */
    @Test
    void driverThatCountsWaitersAsHolders_isFound() {
        Events tests = play(SuiteOfOneB.class, BrokenDrivers.deciding(BrokenDrivers::countingWaiters));
        assertThat(tests.failed().stream()).singleElement().satisfies(failure -> {
            assertThat(failure.getTestDescriptor().getDisplayName()).startsWith("requestThatDelaysNobody");
            assertThat(failure.getPayload()).asString().contains("[pair.b(1), pair.b(2), pair.a(3)]", "waits");
        });
        assertThat(play(SuiteOfOneB.class, BrokenDrivers.deciding(BrokenDrivers::countingHolders)).failed().stream())
                .isEmpty();
    }

    /** Behind the holders 1 and 2, and after 3 and 4 have left, it grants 5. */
    @Test
    @Tag("H298")
    void driverThatCountsByNumbers_isFound() {
        assertThat(play(BrokenDrivers.deciding(BrokenDrivers::byNumber)).failed().stream())
                .singleElement()
                .satisfies(failure -> {
                    assertThat(failure.getTestDescriptor().getDisplayName()).startsWith("answer_doesNotDependOnGaps");
                    assertThat(failure.getPayload())
                            .asString()
                            .contains("pair.a(4) behind [pair.a(1), pair.a(2)]", "Granted", "WaitFor[1, 2]");
                });
    }

    @Test
    @Tag("H221")
    void driverThatIsNoValue_isFound() {
        assertThat(play(SuiteOfNew.class, List.of()).failed().stream())
                .singleElement()
                .satisfies(failure -> {
                    assertThat(failure.getTestDescriptor().getDisplayName()).startsWith("driver_isAValue");
                    assertThat(failure.getPayload()).asString().contains("the same driver, made again");
                });
    }

    @Test
    void soundFifoDriver_passes() {
        assertThat(play(BrokenDrivers.inOrder(BrokenDrivers::pair)).failed().stream())
                .isEmpty();
    }

    @Test
    void soundDriverWithASharedRule_passes() {
        assertThat(play(BrokenDrivers.beginningBy(BrokenDrivers::pair)).failed().stream())
                .isEmpty();
    }

    private static Events play(List<LockDriver> drivers) {
        return play(Suite.class, drivers);
    }

    private static Events play(Class<? extends Suite> suite, List<LockDriver> drivers) {
        played = drivers;
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(suite))
                .execute()
                .testEvents();
    }
}

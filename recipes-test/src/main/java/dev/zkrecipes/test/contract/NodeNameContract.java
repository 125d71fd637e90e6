// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The rules for every driver about node names: it defines legal names, parses the names of its own lock, and ignores
 * all other names.
 */
abstract class NodeNameContract {
    private static final Pattern LEGAL_NAME = Pattern.compile("[A-Za-z0-9._~]{1,120}[-_]");
    private static final Pattern LEGAL_PAYLOAD = Pattern.compile("[A-Za-z0-9._~]{0,80}-");
    private static final List<String> OTHERS =
            List.of("lock-", "__READ__", "__WRIT__", "__lock__", "lease.1-", "no.such.kind-", "");

    NodeNameContract() {}

    /** {@return the requests of one lock, one driver for each} */
    protected abstract List<LockDriver> drivers();

    /** The engine refuses to create a lock with any other name. */
    @Test
    void nodeName_isLegal() {
        for (LockDriver driver : drivers()) {
            String name = driver.nodeName();
            assertThat(name)
                    .as("the node name of %s: letters, digits, '.', '_', '~', and at its end '-' or '_'", driver)
                    .matches(LEGAL_NAME);
            int dot = name.indexOf('.');
            if (dot >= 0) {
                assertThat(name.substring(dot + 1))
                        .as(
                                "the payload, of 80 characters at most, and its dash in the node name %s of %s",
                                name, driver)
                        .matches(LEGAL_PAYLOAD);
            }
            assertThat(driver.nodeName()).as("asked again, %s", driver).isEqualTo(name);
        }
    }

    /** If requests cannot parse each other's nodes, they ignore each other, or fail. */
    @Test
    void nodeOfEachRequest_isReadUnchanged_byAll() {
        for (LockDriver writer : drivers()) {
            String own = writer.nodeName();
            for (int number : new int[] {0, 42, Integer.MAX_VALUE - 1}) {
                String name = DriverQueue.name(own, 0xfedcba, number);
                for (LockDriver reader : drivers()) {
                    LockNode node = reader.parse(name)
                            .orElseThrow(() -> new AssertionError(reader + " does not know " + name + " of " + writer));
                    assertThat(node.name()).as("the name in %s", node).isEqualTo(name);
                    assertThat(node.number()).as("the number of %s", name).isEqualTo(number);
                    assertThat(List.of(node.kind() + node.payload(), node.kind() + node.payload() + "-"))
                            .as("kind and payload of %s, read by %s", name, reader)
                            .contains(own);
                    assertThat(Optional.of(node))
                            .as("%s, read by %s and by %s", name, reader, writer)
                            .isEqualTo(writer.parse(name));
                }
            }
        }
    }

    /**
     * When the sequence counter has reached its limit, numbers are negative or repeat. A driver that ignores such a
     * node grants the lock to a second holder.
     */
    @Test
    void numberOfAWornOutCounter_isRead() {
        for (LockDriver driver : drivers()) {
            for (String number : List.of("2147483647", "-2147483648", "-000000001")) {
                String name = DriverQueue.name(driver.nodeName(), 0xfedcba, 0).replaceFirst("0{10}$", number);
                assertThat(driver.parse(name))
                        .as("%s, read by %s", name, driver)
                        .isPresent();
            }
        }
    }

    /**
     * A driver that accepts the nodes of another kind of lock allows two kinds of lock on one path, which do not
     * exclude each other.
     */
    @Test
    void nodeOfAnotherLock_isForeign() {
        List<String> own = drivers().stream().map(DriverQueue::kind).distinct().toList();
        for (LockDriver driver : drivers()) {
            Stream<String> middles = Stream.concat(OTHERS.stream(), Stream.of("x" + driver.nodeName()))
                    .filter(middle -> own.stream().noneMatch(kind -> !kind.isEmpty() && middle.startsWith(kind)));
            Stream<String> others = middles.map(middle -> DriverQueue.name(middle, 0xfedcba, 1));
            Stream<String> withoutNumber = Stream.of(driver.nodeName(), "", "config", "sub-lock");
            Stream.concat(others, withoutNumber)
                    .forEach(name -> assertThat(driver.parse(name))
                            .as("%s, which is of no kind of %s, read by %s", name, own, driver)
                            .isEmpty());
        }
    }
}

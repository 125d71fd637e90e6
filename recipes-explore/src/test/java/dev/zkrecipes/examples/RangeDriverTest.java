// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.examples.RangeLock.Range;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rule of the range lock, and its names. */
class RangeDriverTest extends LockDriverContract {
    private static final String ID = "0123456789abcdef0123456789abcdef-";
    private static final int FIRST = -2;
    private static final int LAST = 1;

    // Of another range than any that is decided on: what counts is in the nodes.
    private final LockDriver driver = new RangeLock.Driver(new Range(100, 200));

    /** Every range on both sides of zero, of length 1 to 3. */
    @Override
    protected List<LockDriver> drivers() {
        return IntStream.range(FIRST, LAST)
                .boxed()
                .flatMap(from -> IntStream.rangeClosed(from + 1, LAST)
                        .<LockDriver>mapToObj(to -> new RangeLock.Driver(new Range(from, to))))
                .toList();
    }

    private static BitSet cells(LockNode node) {
        Range range = Range.of(node).orElseThrow();
        BitSet cells = new BitSet();
        cells.set((int) range.from() - FIRST, (int) range.to() - FIRST);
        return cells;
    }

    @Override
    protected boolean compatible(List<LockNode> holders) {
        BitSet all = new BitSet();
        holders.forEach(node -> all.or(cells(node)));
        return all.cardinality()
                == holders.stream().mapToInt(node -> cells(node).cardinality()).sum();
    }

    @Test
    void request_waitsForTheNearestOverlap_orHolds() {
        assertEachWaitsForTheNearest((one, other) -> cells(one).intersects(cells(other)));
    }

    @Test
    void everyLong_isReadBackFromTheName() {
        long[] rising = {Long.MIN_VALUE, Long.MIN_VALUE + 1, -256, -10, -1, 0, 1, 10, 1L << 53, Long.MAX_VALUE};
        for (int from = 0; from < rising.length; from++) {
            for (int to = from + 1; to < rising.length; to++) {
                Range range = new Range(rising[from], rising[to]);
                String name = new RangeLock.Driver(range).nodeName();
                LockNode node = driver.parse(ID + name + "0000000007").orElseThrow();
                assertThat(Range.of(node)).as(name).contains(range);
                assertThat(node.number()).as(name).isEqualTo(7);
            }
        }
    }

    @Test
    void bounds_areWrittenInTwosComplement() {
        assertThat(new RangeLock.Driver(new Range(-1, 10)).nodeName())
                .isEqualTo("range.ffffffffffffffff.000000000000000a-");
    }

    @Test
    void widestRange_overlapsEveryOther() {
        Range all = new Range(Long.MIN_VALUE, Long.MAX_VALUE);
        assertThat(all.overlaps(new Range(Long.MIN_VALUE, Long.MIN_VALUE + 1))).isTrue();
        assertThat(new Range(Long.MAX_VALUE - 1, Long.MAX_VALUE).overlaps(all)).isTrue();
        assertThat(new Range(Long.MIN_VALUE, 0).overlaps(new Range(0, Long.MAX_VALUE)))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "range.0.10-0000000001",
                "range.-0000000001",
                "range.0000000000000000-0000000001",
                "range.0000000000000000.000000000000000A-0000000001",
                "range.0000000000000000.000000000000000a.-0000000001",
                "range.00000000000000000.000000000000000a-0000000001",
                "range.000000000000000a.000000000000000a-0000000001",
                "range.0000000000000000.ffffffffffffffff-0000000001",
                "ranges.0000000000000000.000000000000000a-0000000001",
                "lock-0000000001",
                "group.0000000000000000.000000000000000a-0000000001"
            })
    void nameOtherThanARange_isForeign(String name) {
        assertThat(driver.parse(name)).isEmpty();
        assertThat(driver.parse(ID + name)).isEmpty();
    }
}

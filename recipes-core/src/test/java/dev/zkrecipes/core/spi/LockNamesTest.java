// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockOptions;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.chrono.JapaneseDate;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("H133")
@Timeout(600)
class LockNamesTest {
    private static final Instant MOMENT = Instant.parse("2026-03-29T00:30:00Z");

    enum Size {
        LARGE {
            @Override
            public String toString() {
                return "in " + Locale.getDefault() + "'s words";
            }
        }
    }

    /** What each JVM has to call the same, made as an application makes it: with its own zone and locale. */
    private static List<Object> values() {
        ZoneId own = ZoneId.systemDefault();
        return List.of(
                "İstanbul",
                new StringBuilder("text"),
                'x',
                true,
                (byte) -1,
                (short) 2,
                1_234_567,
                1L << 40,
                BigInteger.TEN.pow(30),
                new UUID(7, 11),
                Size.LARGE,
                TimeUnit.SECONDS,
                DayOfWeek.MONDAY,
                MOMENT,
                MOMENT.atZone(own),
                MOMENT.atZone(own).toOffsetDateTime(),
                MOMENT.atZone(own).toOffsetDateTime().toOffsetTime(),
                LocalDate.of(2026, 1, 2),
                LocalDateTime.of(2026, 1, 2, 3, 4),
                LocalTime.NOON,
                Year.of(2026),
                YearMonth.of(2026, 1),
                MonthDay.of(12, 24),
                Duration.ofSeconds(90),
                Period.ofMonths(3));
    }

    /** Prints the names; also run in JVMs of their own. */
    public static void main(String[] arguments) {
        System.out.print(names());
    }

    private static String names() {
        return values().stream().map(LockNames::nodeOf).collect(Collectors.joining("\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Asia/Tokyo tr TR", "America/Los_Angeles ar EG", "Africa/Casablanca th TH"})
    void jvmOfAnotherZoneAndLocale_makesTheSameNames(String where) throws IOException, InterruptedException {
        String[] own = where.split(" ");
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Duser.timezone=" + own[0],
                        "-Duser.language=" + own[1],
                        "-Duser.country=" + own[2],
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        LockNamesTest.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(other.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertThat(other.waitFor()).isZero();
        assertThat(printed).isEqualTo(names()).hasLineCount(values().size());
    }

    @Test
    void texts_areThoseOfTheValues() {
        assertThat(LockNames.textOf(Size.LARGE)).isEqualTo("LARGE");
        assertThat(LockNames.textOf(MOMENT.atZone(ZoneId.of("Asia/Tokyo")))).isEqualTo("2026-03-29T00:30:00Z");
        assertThat(LockNames.textOf(OffsetDateTime.parse("2026-03-29T02:30+02:00")))
                .isEqualTo("2026-03-29T00:30:00Z");
        assertThat(LockNames.textOf(OffsetTime.parse("00:30+02:00"))).isEqualTo("22:30Z");
        assertThat(LockNames.textOf(-7L)).isEqualTo("-7");
        assertThat(LockNames.nodeOf("group/7 ä\n")).isEqualTo("group%2F7+%C3%A4%0A");
    }

    static List<Object> refused() {
        return List.of(
                1.0,
                1.0f,
                new BigDecimal("1.00"),
                new AtomicLong(1),
                new Date(),
                Calendar.getInstance(),
                JapaneseDate.now(),
                ZoneId.of("Europe/Berlin"),
                new byte[] {1},
                List.of("a"),
                Set.of("a", "b"),
                Map.of("a", "b"),
                Optional.of("a"),
                String.class,
                URI.create("http://host/"),
                Locale.ROOT,
                new Object());
    }

    @ParameterizedTest
    @MethodSource("refused")
    void valueWithoutATextOfItsOwn_isRefusedByItsType(Object value) {
        assertThatThrownBy(() -> LockNames.textOf(value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a " + value.getClass().getTypeName() + " cannot name a lock");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\uD800", "\uDC00", "\uD800\uD800"})
    void halfOfASurrogatePair_isRefused(String text) {
        assertThatThrownBy(() -> LockNames.textOf(text)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LockNames.nodeOf(text.charAt(text.length() - 1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Orders.ship", "nightly report/ä", "a:b-c_d.e", "\uD800"})
    void anyTextHasANameForMeters(String text) {
        String name = LockNames.meterNameOf(text);
        assertThat(LockOptions.defaults().withName(name).name()).contains(name);
        assertThat(name).hasSameSizeAs(text);
        assertThat(LockNames.meterNameOf("x".repeat(100) + text)).hasSize(80).endsWith(name);
    }

    @Test
    void typeIsAccepted_ifAValueOfItMayBe() {
        Stream<Class<?>> declared = Stream.of(
                int.class,
                char.class,
                boolean.class,
                Object.class,
                Number.class,
                Comparable.class,
                Enum.class,
                Runnable.class);
        assertThat(Stream.concat(declared, values().stream().map(Object::getClass)))
                .allMatch(LockNames::accepts);
        Stream<Class<?>> never =
                Stream.of(double.class, float.class, void.class, Iterable.class, Set.class, String[].class);
        assertThat(Stream.concat(never, refused().stream().map(Object::getClass).filter(type -> type != Object.class)))
                .noneMatch(LockNames::accepts);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.LockOptions;
import java.lang.invoke.MethodType;
import java.math.BigInteger;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
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
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/**
 * Turns a value, such as an order's id, into a name in a lock's path. Every process derives the same name from the same
 * value, whatever its time zone and locale: otherwise one key would have two locks.
 *
 * <p>Accepted values are text, characters, integral numbers, booleans, UUIDs, enums by {@link Enum#name()}, and dates,
 * times and durations of {@code java.time} by their ISO text; a moment with a zone or an offset by its text in UTC.
 * Everything else is refused: 1.0 and 1.00, a {@code java.util.Date}, arrays, sets and classes may have another text in
 * another process. Values of different types with the same text, such as 7 and "7", have the same name.
 */
public final class LockNames {
    private static final List<Class<?>> ACCEPTED = List.of(
            CharSequence.class,
            Character.class,
            Boolean.class,
            Byte.class,
            Short.class,
            Integer.class,
            Long.class,
            BigInteger.class,
            UUID.class,
            Enum.class,
            Instant.class,
            OffsetDateTime.class,
            ZonedDateTime.class,
            OffsetTime.class,
            LocalDate.class,
            LocalDateTime.class,
            LocalTime.class,
            Year.class,
            YearMonth.class,
            MonthDay.class,
            Duration.class,
            Period.class);

    private static final int LONGEST_METER_NAME = 80;

    private LockNames() {}

    /**
     * Whether a variable of a type can have a value that is accepted. Shows that a type is refused before there is a
     * value.
     *
     * @param type the declared type, which may be primitive
     * @return false if {@link #textOf} refuses every value of the type
     */
    public static boolean accepts(Class<?> type) {
        Objects.requireNonNull(type, "type");
        Class<?> boxed = MethodType.methodType(type).wrap().returnType();
        boolean mayBeAnEnum = boxed.isInterface() && !isContainer(boxed);
        return mayBeAnEnum
                || ACCEPTED.stream().anyMatch(each -> each.isAssignableFrom(boxed) || boxed.isAssignableFrom(each));
    }

    private static boolean isContainer(Class<?> type) {
        return Iterable.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    }

    /**
     * Returns the text of a value. It may be empty, and may contain characters that no node's name can have.
     *
     * @param value the value
     * @return its text, the same in every process
     * @throws IllegalArgumentException if the value is of a type that is not accepted, or contains half of a surrogate
     *     pair
     */
    public static String textOf(Object value) {
        Objects.requireNonNull(value, "value");
        if (ACCEPTED.stream().noneMatch(type -> type.isInstance(value))) {
            throw new IllegalArgumentException("a " + value.getClass().getTypeName()
                    + " cannot name a lock, as it may have another text in another process: use a property of it that is"
                    + " a string or an integral number");
        }
        String text = same(value).toString();
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException("a text with half of a surrogate pair cannot name a lock");
        }
        return text;
    }

    /**
     * Returns an equivalent whose text is the same in all time zones and does not depend on an enum's {@code toString}.
     */
    private static Object same(Object value) {
        if (value instanceof Enum<?> constant) {
            return constant.name();
        } else if (value instanceof OffsetDateTime moment) {
            return moment.toInstant();
        } else if (value instanceof ZonedDateTime moment) {
            return moment.toInstant();
        } else if (value instanceof OffsetTime time) {
            return time.withOffsetSameInstant(ZoneOffset.UTC);
        }
        return value;
    }

    /**
     * Returns the text of a value as the name of a single node: characters that are special in a path or a URL are
     * encoded as in a URL. Different texts have different names. An empty text, {@code .} and {@code ..} are returned
     * unchanged, although no node can have such a name.
     *
     * @param value the value
     * @return printable ASCII characters without a slash
     * @throws IllegalArgumentException as {@link #textOf}
     */
    public static String nodeOf(Object value) {
        return URLEncoder.encode(textOf(value), StandardCharsets.UTF_8);
    }

    /**
     * Turns a text into a name for meters and the log, see {@link LockOptions#withName}. Characters that such a name
     * cannot contain become {@code _}; of a text that is too long, only the end is kept. So different texts may have
     * the same name.
     *
     * @param text what to name the lock by, such as a method or a job; not empty
     * @return a name that {@code withName} accepts
     */
    public static String meterNameOf(String text) {
        String plain = Objects.requireNonNull(text, "text").replaceAll("[^A-Za-z0-9._:-]", "_");
        return plain.substring(Math.max(0, plain.length() - LONGEST_METER_NAME));
    }
}

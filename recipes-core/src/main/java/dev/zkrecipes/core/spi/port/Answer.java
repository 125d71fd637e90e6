// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import java.util.Objects;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one request to ZooKeeper.
 *
 * @param <T> what a success carries
 * @param code ZooKeeper's result code
 * @param valueOrNull the server's response; set if the code is OK, and for a failed {@code multi}, where it shows which
 *     operation failed
 */
public record Answer<T>(Code code, @Nullable T valueOrNull) {

    /**
     * {@return a success}
     *
     * @param <T> what it carries
     * @param value the response of the server
     */
    public static <T> Answer<T> ok(T value) {
        return new Answer<>(Code.OK, Objects.requireNonNull(value, "value"));
    }

    /**
     * {@return a failure}
     *
     * @param <T> what a success would have carried
     * @param code not OK
     */
    public static <T> Answer<T> failed(Code code) {
        return new Answer<>(Objects.requireNonNull(code, "code"), null);
    }

    /**
     * Converts a result number of ZooKeeper's into a code.
     *
     * @param rc the number
     * @return the code; SYSTEMERROR for one that this version of the client does not know, and AUTHFAILED for
     *     SESSIONCLOSEDREQUIRESASLAUTH, too: the server answers nothing else to this client
     */
    public static Code codeOf(int rc) {
        try {
            Code code = Code.get(rc); // null for an unknown one in old clients
            return code == null ? Code.SYSTEMERROR : code == Code.SESSIONCLOSEDREQUIRESASLAUTH ? Code.AUTHFAILED : code;
        } catch (IllegalArgumentException e) {
            return Code.SYSTEMERROR;
        }
    }

    /** {@return whether the request succeeded} */
    public boolean isOk() {
        return code == Code.OK;
    }

    /**
     * {@return the response of the server}
     *
     * @throws IllegalStateException if there is none
     */
    public T value() {
        T value = valueOrNull;
        if (value == null) {
            throw new IllegalStateException("no value in an answer of " + code);
        }
        return value;
    }

    /**
     * {@return whether the outcome is unsettled: the request may or may not have been applied, and is worth repeating
     * once there is a connection again, or will get the same answer from the next server} This is the case after losses
     * of the connection or session, time-outs and throttling.
     */
    public boolean isUnsettled() {
        return switch (code) {
            case CONNECTIONLOSS,
                    OPERATIONTIMEOUT,
                    REQUESTTIMEOUT,
                    SESSIONEXPIRED,
                    UNKNOWNSESSION, // from a server that has just expired it and closes the connection
                    SESSIONMOVED,
                    THROTTLEDOP -> true;
            default -> false;
        };
    }
}

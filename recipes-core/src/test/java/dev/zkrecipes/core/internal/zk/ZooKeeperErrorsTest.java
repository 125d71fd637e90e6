// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.EnumSet;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each code that ZooKeeper has: it is asked again, or the error says what to do. */
class ZooKeeperErrorsTest {
    private static final Set<Code> ASKED_AGAIN = EnumSet.of(
            Code.CONNECTIONLOSS,
            Code.OPERATIONTIMEOUT,
            Code.REQUESTTIMEOUT,
            Code.SESSIONEXPIRED,
            Code.UNKNOWNSESSION,
            Code.SESSIONMOVED,
            Code.THROTTLEDOP);

    private static String advice(Code code) {
        return switch (code) {
            case NOAUTH -> "the client needs READ, CREATE and DELETE on the lock path";
            case AUTHFAILED -> "check its auth settings, and the server's";
            case INVALIDACL -> "add its credentials";
            case NOCHILDRENFOREPHEMERALS, BADARGUMENTS -> "choose another";
            case NOTREADONLY -> "use a handle that was opened with canBeReadOnly = false";
            case QUOTAEXCEEDED -> "raise it";
            case UNIMPLEMENTED -> "upgrade all servers";
            case MARSHALLINGERROR -> "raise jute.maxbuffer";
            case EPHEMERALONLOCALSESSION -> "set localSessionsUpgradingEnabled=true";
            case NONODE, NODEEXISTS, NOTEMPTY, BADVERSION -> "try again";
            // The server has failed, or answers what no server answers to any request of ours.
            case SYSTEMERROR,
                    RUNTIMEINCONSISTENCY,
                    DATAINCONSISTENCY,
                    APIERROR,
                    NEWCONFIGNOQUORUM,
                    RECONFIGINPROGRESS,
                    RECONFIGDISABLED,
                    INVALIDCALLBACK,
                    NOWATCHER -> "look for the error in the log of the server";
            default -> throw new AssertionError("nobody has decided what to say of " + code);
        };
    }

    private static Class<? extends LockException> type(Code code) {
        return switch (code) {
            case NOAUTH, INVALIDACL, AUTHFAILED -> LockAccessException.class;
            case MARSHALLINGERROR -> LockLimitException.class;
            default -> LockException.class;
        };
    }

    @ParameterizedTest
    @EnumSource(names = "OK", mode = EnumSource.Mode.EXCLUDE)
    @Tag("H110")
    void everyCode_isAskedAgainOrExplained(Code given) {
        Code code = Answer.codeOf(given.intValue());
        Answer<String> answer = Answer.failed(code);
        assertThat(answer.isUnsettled()).isEqualTo(ASKED_AGAIN.contains(given));
        if (!answer.isUnsettled()) {
            assertThat(ZooKeeperErrors.of("/orders", "list /orders", answer))
                    .isExactlyInstanceOf(type(code))
                    .hasMessageContaining("lock /orders")
                    .hasMessageContaining(advice(code))
                    .hasMessageNotContaining("documentation");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTHFAILED", "SESSIONCLOSEDREQUIRESASLAUTH"})
    @Tag("H110")
    void requiredAuthentication_isNamed(Code given) {
        assertThat(ZooKeeperErrors.of("/orders", "list /orders", Answer.failed(Answer.codeOf(given.intValue()))))
                .isInstanceOf(LockAccessException.class)
                .hasMessageContainingAll(
                        "sessionRequireClientSASLAuth", "enforce.auth.enabled", "enforce.auth.schemes");
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Creates the errors that the application gets when ZooKeeper refuses a request, or when the engine fails during one.
 * Each message names the lock, what was attempted, and what to do.
 */
public final class ZooKeeperErrors {
    public static final String CREDENTIALS_REFUSED =
            "ZooKeeper refused the credentials of this client, or requires some that it did not give"
                    + " (sessionRequireClientSASLAuth, or enforce.auth.enabled with enforce.auth.schemes, on the servers),"
                    + " or its SASL login failed (the log of org.apache.zookeeper tells more); check its auth settings,"
                    + " and the server's";

    public static final String CREATE_PATH = "create the path "; // needs rights on the node above, see rightsTo()
    public static final String CHANGE_DATA = "change the data of "; // needs WRITE on the path, see rightsTo()

    private ZooKeeperErrors() {}

    /** Returns the error for credentials that a server does not accept. */
    public static LockAccessException credentialsRefused(String consequence) {
        return new LockAccessException(CREDENTIALS_REFUSED + ": " + consequence);
    }

    /**
     * Returns the error for a refused request. {@code what} names the attempt, as in "create the path /a". If the
     * request or its answer was too large, the value of the answer tells the size of the node where it is known.
     */
    public static LockException of(String lockPath, String what, Answer<?> answer) {
        Code code = answer.code();
        String message = "lock " + lockPath + ": ZooKeeper refused to " + Printable.of(what) + " (" + code + "); ";
        return switch (code) {
            case MARSHALLINGERROR -> tooLarge(lockPath, what, size(answer.valueOrNull()));
            case NOAUTH -> new LockAccessException(message + "the client needs " + rightsTo(what));
            case INVALIDACL ->
                new LockAccessException(
                        message + "the ACL names an identity that this session does not have, such as that"
                                + " of its creator without one: add its credentials");
            case AUTHFAILED -> credentialsRefused("the lock " + lockPath + " cannot be used");
            default -> new LockException(message + advice(code));
        };
    }

    private static String rightsTo(String what) {
        if (what.startsWith(CREATE_PATH)) {
            return "CREATE on the nearest node above it that exists; grant that, or have somebody else make the path, with"
                    + " READ, CREATE and DELETE for the client";
        }
        return what.startsWith(CHANGE_DATA)
                ? "WRITE on the lock path for that, beside READ, CREATE and DELETE"
                : "READ, CREATE and DELETE on the lock path and READ on its nodes";
    }

    private static String advice(Code code) {
        return switch (code) {
            case NOCHILDRENFOREPHEMERALS ->
                "a node on the path is ephemeral and can have no children, choose another path";
            case NOTREADONLY -> "the server is read-only, use a handle that was opened with canBeReadOnly = false";
            case QUOTAEXCEEDED -> "a quota on the path is exceeded, raise it";
            case UNIMPLEMENTED -> // reads in a multi, for example, were added in 3.6
                "the server does not know that request, so it is older than 3.6, the oldest that this library works"
                        + " with: upgrade all servers, then make a new client";
            case EPHEMERALONLOCALSESSION ->
                "the session is a local one, which cannot have ephemeral nodes: set localSessionsUpgradingEnabled=true,"
                        + " or localSessionsEnabled=false, on all servers";
            case BADARGUMENTS -> "the server takes the path for malformed, choose another one";
            case NONODE, NODEEXISTS, NOTEMPTY, BADVERSION ->
                "somebody else changes the nodes at the same time, try again";
            default -> "look for the error in the log of the server";
        };
    }

    /**
     * Returns the error for an exception thrown during a request. An exception of this library already says what is
     * wrong, for example that the driver failed. Anything else is a bug in the engine.
     */
    public static LockException ofEngine(String subject, Throwable thrown) {
        return thrown instanceof LockException known
                ? known
                : new LockException(
                        "the lock engine failed on " + subject + " (" + thrown + "); please report this", thrown);
    }

    /** Describes the size of the node, if it is known; otherwise empty. */
    private static String size(@Nullable Object known) {
        if (known instanceof Children children) {
            return ": there are " + children.stat().getNumChildren() + " children";
        } else if (known instanceof Content content) {
            return ": it has " + content.stat().getDataLength() + " bytes of data";
        }
        return "";
    }

    private static LockLimitException tooLarge(String lockPath, String what, String size) {
        return new LockLimitException("lock " + lockPath + ": ZooKeeper cannot " + Printable.of(what)
                + ", as the request or its answer is larger than a packet may be (jute.maxbuffer)" + size
                + "; remove what does not belong there, ask for less at once, or raise jute.maxbuffer on all servers"
                + " and clients");
    }
}

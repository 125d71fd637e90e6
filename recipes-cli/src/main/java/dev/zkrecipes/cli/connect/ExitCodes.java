// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import picocli.CommandLine.ParameterException;

/**
 * The exit codes of {@code zklock}. They follow {@code sysexits.h} and the shells. Few commands use these codes, so a
 * script can tell an error of {@code zklock run} from an error of its command.
 */
public final class ExitCodes {
    /** Done. */
    public static final int OK = 0;

    /**
     * A command failed, for example a check of the demo; or the lock was not acquired in time, without {@code -E}.
     */
    public static final int FAILED = 1;

    /** The command line, or a file or variable that it uses, is wrong; nothing was sent. */
    public static final int USAGE = 64;

    /** The path cannot serve as this lock: another recipe uses it, it has too many nodes, and so on. */
    public static final int UNUSABLE_PATH = 65;

    /** No server could be reached. */
    public static final int NO_SERVER = 69;

    /** zklock itself failed: it could not start a process, or it has a defect. */
    public static final int INTERNAL = 70;

    /** The output could not be written. */
    public static final int UNWRITTEN = 74;

    /** The lock was lost while the command ran. */
    public static final int LOST = 76;

    /** ZooKeeper denied access or refused the credentials. */
    public static final int NO_RIGHTS = 77;

    /** This plus the number of a signal: the signal ended the command, or zklock while it waited. */
    public static final int SIGNALLED = 128;

    /** Messages are cut at this length, because they quote values of any length. */
    private static final int LONGEST_MESSAGE = 1000;

    private ExitCodes() {}

    /**
     * Returns the exit code of an error.
     *
     * @param error what a sub-command threw
     * @return the code
     */
    public static int of(Throwable error) {
        if (error instanceof ParameterException) {
            return USAGE;
        }
        if (error instanceof LockConnectionException) {
            return NO_SERVER;
        }
        if (error instanceof LockAccessException) {
            return NO_RIGHTS;
        }
        if (error instanceof LockLostException) {
            return LOST;
        }
        return error instanceof LockException ? UNUSABLE_PATH : INTERNAL;
    }

    /**
     * Returns the message of an error, in one line.
     *
     * @param error what a sub-command threw
     * @return its message, or its class if it has no message or is a defect
     */
    public static String message(Throwable error) {
        if (error instanceof ClientClosedException && error.getCause() == null) {
            return "ended by a signal"; // only the shutdown hook closes a client that is still in use
        }
        String told = error.getMessage();
        boolean meantForUsers = error instanceof LockException || error instanceof ParameterException;
        String message = told != null && meantForUsers ? told : error.toString();
        return PlainText.of(message.strip().replaceAll("\\s*\\R\\s*", " "), LONGEST_MESSAGE);
    }
}

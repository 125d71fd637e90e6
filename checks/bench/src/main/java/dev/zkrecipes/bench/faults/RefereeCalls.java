// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Contender;
import java.rmi.Remote;
import java.rmi.RemoteException;

/** What the processes call of the {@link Referee}. */
interface RefereeCalls extends Remote {
    /** Is returned where a token is refused. */
    long REFUSED = -1;

    /** A process has begun, by its clock. */
    void begun(long nanoTime) throws RemoteException;

    /** A holder began, or ended. */
    void note(Tenure tenure) throws RemoteException;

    /** A call of a library failed. */
    void failed(Contender contender, String how) throws RemoteException;

    /** A thread took its lock once more at the end. */
    void served(Contender contender, String thread) throws RemoteException;

    /** A counter's value, or {@link #REFUSED}. */
    long read(Referee.Counter counter, long token) throws RemoteException;

    /** Sets it, and returns the value, or {@link #REFUSED}. */
    long write(Referee.Counter counter, long token, long value) throws RemoteException;
}

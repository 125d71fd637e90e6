// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;

/** A worker that is in, according to the ledger. */
final class Presence {
    private final Ledger ledger;
    private final long pid;
    private boolean in;

    private Presence(Ledger ledger, long pid) {
        this.ledger = ledger;
        this.pid = pid;
    }

    static Presence begin(Ledger ledger, String share) throws IOException {
        Presence presence = new Presence(ledger, ProcessHandle.current().pid());
        presence.become(share);
        return presence;
    }

    /** Stays, with another share. */
    void become(String share) throws IOException {
        ledger.in(pid, share);
        in = true;
    }

    /** Leaves, if it is in. */
    void end() throws IOException {
        if (in) {
            ledger.out(pid);
            in = false;
        }
    }
}

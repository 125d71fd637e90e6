// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

/** The work that a thread repeats: taking something and releasing it. Used by one thread. */
public interface Cycle {

    /** Takes it. This is timed separately. */
    void acquire() throws InterruptedException;

    /** Gives it back. */
    void release() throws InterruptedException;
}

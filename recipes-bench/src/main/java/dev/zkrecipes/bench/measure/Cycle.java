// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

/** What a thread does again and again: takes something and gives it back. Used by one thread. */
public interface Cycle {

    /** Takes it; the time that this takes is measured by itself. */
    void acquire() throws InterruptedException;

    /** Gives it back. */
    void release() throws InterruptedException;
}

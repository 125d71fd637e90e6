// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.File;

/** Files of the system. */
final class Devices {
    static final File NULL = new File("/dev/null");

    private Devices() {}
}

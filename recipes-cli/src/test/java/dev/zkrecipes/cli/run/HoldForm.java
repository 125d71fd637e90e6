// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.util.Set;

/** The ways in which scripts read {@code zklock hold}: in some of them its parent is not the script. */
enum HoldForm {
    PLAIN("exec 9< <($hold)", "bash", "zsh", "ksh"),
    UNDER_TIMEOUT("exec 9< <(timeout 600 $hold)", "bash", "zsh", "ksh"),
    WITH_OR("exec 9< <($hold || echo no >&2)", "bash", "zsh", "ksh"),
    ERR_TRAP("set -E; trap : ERR; exec 9< <($hold)", "bash"),
    COPROC("coproc L { $hold; }; exec 9<&${L[0]}", "bash"),
    COPROC_OF_ZSH("coproc { $hold; }; exec 9<&p", "zsh"),
    COPROC_OF_KSH("$hold |& exec 9<&p", "ksh", "mksh"),
    FUNCTION("mkfifo $fifo; h() { $hold >$fifo; }; h & exec 9<$fifo", "bash", "sh", "zsh", "ksh", "mksh"),
    FIFO("mkfifo $fifo; $hold >$fifo & exec 9<$fifo; rm $fifo", "bash", "sh", "ksh", "mksh", "busybox sh", "zsh"),
    FIFO_FOR_BOTH("mkfifo $fifo; exec 9<>$fifo; { $hold >&9 & }", "bash", "sh", "zsh", "ksh", "mksh", "busybox sh"),
    BY_PID("$hold --pid=$$ >$fifo & until [ -s $fifo ]; do sleep 0.1; done; exec 9<$fifo", "bash", "sh", "busybox sh");

    private final String start;
    private final Set<String> shells;

    HoldForm(String start, String... shells) {
        this.start = start;
        this.shells = Set.of(shells);
    }

    boolean worksIn(String shell) {
        return shells.contains(shell);
    }

    /** A script that takes the lock, says who it is, and goes on for ever, with children that have the descriptor. */
    String script(String path, String fifo, String options) {
        return "hold='" + path + "' fifo='" + fifo + "'; "
                + start.replace("$hold", "\"$ZKLOCK\" hold " + options + " $hold")
                + "; read -r fence session node <&9 || exit 3; echo session $session; echo script $$; while :; do sleep 0.1; done";
    }
}

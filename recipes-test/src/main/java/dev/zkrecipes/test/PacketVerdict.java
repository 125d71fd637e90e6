// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.ArrayList;
import java.util.List;

/**
 * What happens to one packet: first it is held, then forwarded, lost, or lost with its connection.
 *
 * @param holds what to stand for
 * @param fate what happens then
 * @param dropped whom to tell that it was lost
 */
record PacketVerdict(List<Held> holds, Fate fate, List<Signal> dropped) {
    /** The end of a packet. */
    enum Fate {
        FORWARD,
        LOSE,
        CUT
    }

    /** The sum of all rules that meet in one packet. An event is never cut and nothing else is merely lost. */
    static PacketVerdict of(List<FaultRule> rules) {
        List<Held> holds = new ArrayList<>();
        List<Signal> dropped = new ArrayList<>();
        Fate fate = Fate.FORWARD;
        for (FaultRule rule : rules) {
            Held held = rule.held();
            if (held != null) {
                holds.add(held);
                continue;
            }
            dropped.add(rule.signal());
            fate = rule.kind() == FaultRule.Kind.DROP_EVENT ? Fate.LOSE : Fate.CUT;
        }
        return new PacketVerdict(holds, fate, dropped);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import dev.zkrecipes.bench.contender.Contender;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** The order of turns: every other round is backwards, so that no contender always follows the same one. */
final class TurnOrder {
    private TurnOrder() {}

    static List<Contender> of(Collection<Contender> contenders, int round) {
        List<Contender> order = new ArrayList<>(contenders);
        Collections.sort(order);
        if (round % 2 == 1) {
            Collections.reverse(order);
        }
        return order;
    }
}

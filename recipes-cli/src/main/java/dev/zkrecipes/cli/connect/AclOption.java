// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/**
 * Rights as ZooKeeper's own shell writes them, {@code SCHEME:ID:PERMS[,SCHEME:ID:PERMS]...}, or one word for a common
 * choice.
 */
final class AclOption {
    private static final String LETTERS = "rwcda"; // in the order of ZooKeeper's bits

    private AclOption() {}

    static List<ACL> parse(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "open" -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
            case "creator" -> ZooDefs.Ids.CREATOR_ALL_ACL;
            default -> entries(text);
        };
    }

    private static List<ACL> entries(String text) {
        List<ACL> acl = new ArrayList<>();
        for (String entry : text.split(",", -1)) {
            int first = entry.indexOf(':');
            int last = entry.lastIndexOf(':');
            if (first < 1 || last == first || last == entry.length() - 1) {
                throw new IllegalArgumentException("'" + entry + "' is not SCHEME:ID:PERMS; give creator, open,"
                        + " or entries such as digest:user:HASH:cdrwa");
            }
            acl.add(new ACL(
                    permissions(entry.substring(last + 1)),
                    new Id(entry.substring(0, first), entry.substring(first + 1, last))));
        }
        return acl;
    }

    private static int permissions(String letters) {
        int bits = 0;
        for (int i = 0; i < letters.length(); i++) {
            int bit = LETTERS.indexOf(letters.charAt(i));
            if (bit < 0) {
                throw new IllegalArgumentException("'" + letters + "' contains a letter other than c, d, r, w, a");
            }
            bits |= 1 << bit;
        }
        return bits;
    }
}

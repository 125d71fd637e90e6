// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import com.google.common.base.Preconditions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/** Checks, copies, compares and prints lists of rights. */
public final class Acls {
    private static final int NEEDED = Perms.READ | Perms.CREATE | Perms.DELETE;
    private static final int SHORTEST_HASH = 16;
    private static final String LETTERS = "rwcda"; // in the order of ZooKeeper's bits

    private Acls() {}

    /**
     * A copy that nobody else can change, or an IllegalArgumentException if nobody could ever use a lock with these
     * rights. Not one of {@code List.of}: ZooKeeper's client asks the list for null, which those answer with an
     * exception.
     */
    public static List<ACL> check(List<ACL> acl) {
        Preconditions.checkArgument(!acl.isEmpty(), "the ACL is empty: nobody could ever use the locks");
        int granted = 0;
        for (ACL entry : acl) {
            Preconditions.checkArgument(
                    entry != null
                            && entry.getId() != null
                            && entry.getId().getScheme() != null
                            && entry.getId().getId() != null,
                    "the ACL has an entry that is null, or that names nobody");
            Preconditions.checkArgument(
                    entry.getPerms() > 0 && (entry.getPerms() & ~Perms.ALL) == 0,
                    "the ACL's entry for %s grants %s, which are no rights of ZooKeeper's",
                    describe(entry.getId()),
                    entry.getPerms());
            requireValid(entry.getId());
            granted |= entry.getPerms();
        }
        Preconditions.checkArgument(
                (granted & NEEDED) == NEEDED,
                "the ACL %s grants nobody all of READ, CREATE and DELETE: nobody could ever use the locks",
                describe(acl));
        return copy(acl);
    }

    private static void requireValid(Id id) {
        String who = id.getId();
        switch (id.getScheme()) {
            case "" -> throw new IllegalArgumentException("the ACL has an entry without a scheme");
            case "world" ->
                Preconditions.checkArgument(
                        who.equals("anyone"), "the ACL names %s; the scheme world knows only anyone", describe(id));
            case "digest" ->
                Preconditions.checkArgument(
                        isDigest(who),
                        "the ACL names %s without the hash of its password: an ACL holds what"
                                + " DigestAuthenticationProvider.generateDigest makes of user:password, never the password",
                        describe(id));
            default -> {
                // The server knows.
            }
        }
    }

    private static boolean isDigest(String id) {
        int colon = id.indexOf(':');
        try {
            return colon > 0 && Base64.getDecoder().decode(id.substring(colon + 1)).length >= SHORTEST_HASH;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** A copy of all that can be changed. */
    public static List<ACL> copy(List<ACL> acl) {
        return acl.stream()
                .map(entry -> new ACL(
                        entry.getPerms(),
                        new Id(entry.getId().getScheme(), entry.getId().getId())))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    public static boolean areSame(List<ACL> one, List<ACL> other) {
        return rights(one).equals(rights(other));
    }

    private static Map<Id, Integer> rights(List<ACL> acl) {
        Map<Id, Integer> rights = new HashMap<>();
        acl.forEach(entry -> rights.merge(entry.getId(), entry.getPerms(), (one, other) -> one | other));
        return rights;
    }

    /** The entries, fit to print, without the hashes of passwords: {@code [digest:alice rwcda]}. */
    public static String describe(List<ACL> acl) {
        return acl.stream()
                .map(entry -> describe(entry.getId()) + " " + letters(entry.getPerms()))
                .collect(Collectors.joining(", ", "[", "]"));
    }

    private static String describe(Id id) {
        String who = id.getId();
        int colon = who.indexOf(':');
        boolean hidden = id.getScheme().equals("digest");
        return Printable.of(id.getScheme() + ":" + (hidden && colon >= 0 ? who.substring(0, colon) : who));
    }

    private static String letters(int perms) {
        StringBuilder letters = new StringBuilder();
        for (int bit = 0; bit < LETTERS.length(); bit++) {
            if ((perms & (1 << bit)) != 0) {
                letters.append(LETTERS.charAt(bit));
            }
        }
        return letters.toString();
    }
}

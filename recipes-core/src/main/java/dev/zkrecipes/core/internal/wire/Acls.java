// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import com.google.common.base.Preconditions;
import com.google.common.base.Utf8;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/** Checks, copies, compares and prints ACLs. ZooKeeper's ACL objects are mutable, so this library keeps only copies. */
public final class Acls {
    private static final int NEEDED = Perms.READ | Perms.CREATE | Perms.DELETE; // what a client needs to use a lock
    private static final int SHORTEST_HASH = 16; // in bytes
    private static final String LETTERS = "rwcda"; // in the order of ZooKeeper's bits

    private Acls() {}

    /**
     * Returns a copy that nobody else can change. Throws an IllegalArgumentException if an entry is malformed, or if
     * nobody could ever use a lock with these rights. The copy is not made by {@code List.of}: ZooKeeper's client calls
     * {@code contains(null)}, for which such a list throws.
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

    /**
     * Checks the identity of an entry as far as it can be checked without a server. The usual mistake is a password
     * in place of its hash, which no client could ever match.
     */
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
                // Only the server knows the other schemes.
            }
        }
    }

    /** Whether the id consists of a user and the Base64 form of a hash. */
    private static boolean isDigest(String id) {
        int colon = id.indexOf(':');
        try {
            return colon > 0 && Base64.getDecoder().decode(id.substring(colon + 1)).length >= SHORTEST_HASH;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Returns a deep copy: the entries are mutable, not only the list. */
    public static List<ACL> copy(List<ACL> acl) {
        return acl.stream()
                .map(entry -> new ACL(
                        entry.getPerms(),
                        new Id(entry.getId().getScheme(), entry.getId().getId())))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /** Returns the number of bytes that the entries take in a request. */
    public static long sizeOf(List<ACL> acl) {
        return acl.stream()
                .map(ACL::getId)
                .mapToLong(
                        id -> 3L * Integer.BYTES + Utf8.encodedLength(id.getScheme()) + Utf8.encodedLength(id.getId()))
                .sum();
    }

    /** Whether two ACLs grant the same rights to the same identities, however they split them into entries. */
    public static boolean areSame(List<ACL> one, List<ACL> other) {
        return rights(one).equals(rights(other));
    }

    private static Map<Id, Integer> rights(List<ACL> acl) {
        Map<Id, Integer> rights = new HashMap<>();
        acl.forEach(entry -> rights.merge(entry.getId(), entry.getPerms(), (one, other) -> one | other));
        return rights;
    }

    /** Returns the entries in printable form, without the hashes of passwords: {@code [digest:alice rwcda]}. */
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

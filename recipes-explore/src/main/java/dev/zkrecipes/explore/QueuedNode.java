// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import java.util.Comparator;
import java.util.Optional;

/**
 * A node in a queue.
 *
 * @param lockPath the path of the lock
 * @param name the name of the node
 * @param kind the name without id and number, as a driver defines it
 * @param number the sequence number
 */
record QueuedNode(String lockPath, String name, String kind, long number) implements Comparable<QueuedNode> {
    private static final int ID = 33; // the length of an id with its dash
    private static final int DIGITS = 10;
    private static final Comparator<QueuedNode> ORDER =
            Comparator.comparingLong(QueuedNode::number).thenComparing(QueuedNode::name);

    static Optional<QueuedNode> of(String lockPath, String name) {
        int end = name.length() - DIGITS;
        if (end <= ID || name.charAt(ID - 1) != '-') {
            return Optional.empty();
        }
        String kind = name.substring(ID, end);
        String number = name.substring(end);
        return number.chars().allMatch(Character::isDigit) && !Character.isDigit(kind.charAt(kind.length() - 1))
                ? Optional.of(new QueuedNode(lockPath, name, kind, Long.parseLong(number)))
                : Optional.empty();
    }

    static boolean isOne(String nodePath) {
        return find(nodePath).isPresent();
    }

    private static Optional<QueuedNode> find(String nodePath) {
        int slash = nodePath.lastIndexOf('/');
        return of(nodePath.substring(0, slash), nodePath.substring(slash + 1));
    }

    static QueuedNode of(String nodePath) {
        return find(nodePath).orElseThrow(() -> new IllegalArgumentException("not a lock node: " + nodePath));
    }

    String path() {
        return lockPath + "/" + name;
    }

    @Override
    public int compareTo(QueuedNode other) {
        return ORDER.compare(this, other);
    }
}

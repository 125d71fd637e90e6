// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;

/**
 * What a session knows about the queue of one path without asking the server, so that the next create needs no list
 * after it.
 *
 * <p><b>Why the number of a node is as good as a list.</b> ZooKeeper numbers the children of a path by the count of all
 * creates below it, of whatever kind. So if the number of a new node of ours directly follows that of our last one,
 * nobody has created anything in between. Deletions only shorten a queue, and by the first law of drivers, a request
 * that is granted with too many nodes in front is also granted with fewer.
 *
 * <p><b>Why the path is watched.</b> If the path is deleted and recreated, its numbers start at 0 again and may match
 * ours by chance. A watch on the path reports the deletion before the server answers a create below the new path. The
 * list with which this knowledge begins has to be newer than the watch. The watch also reports changes of the path's
 * data, which is the rule of some locks. All of this holds on one connection only.
 *
 * <p>Only a queue that has no nodes of others is kept: a request behind somebody else needs a list anyway. The list has
 * to follow two nodes of ours with no create by others in between. So a client that takes turns with others, and whose
 * numbers never are the expected ones, continues to send the list with the create, which takes one round trip, instead
 * of finding out each time that it needs one. Confined to the engine thread.
 */
public final class KeptView implements WatchRegistry.Subscriber {
    private static final long NONE = -1;

    /**
     * Each request goes through all names again, so its cost grows with the queue. In a longer queue, the requests
     * share one list instead.
     */
    static final int MOST_NAMES = 64;

    final String path;
    private final SessionNodes nodes;
    private final WatchRegistry watches;
    private final IntSupplier sessionOrder;
    // All nodes in the queue if it is known, which all belong to this session; otherwise empty.
    private final List<String> names = new ArrayList<>(1);
    private Optional<Content> rule = Optional.empty();
    private long expected = NONE; // the number of the next create, if nobody else creates anything
    private boolean wasExpected; // whether our last node had the expected number
    private boolean wasAlone; // whether the last list showed no nodes of others, and not too many of ours
    private boolean isKnown; // whether names was complete when our last node was created
    private int order; // Session.order() when the last list was taken
    private int reads; // how often the watch has read the path: once when it was set, and again after each event
    private int knownSinceRead; // the value of reads when the last list was taken
    private boolean isWatched;
    private int uses; // since this object was created, or the path was found to be gone
    long usedAt; // by the engine's clock

    KeptView(String path, SessionNodes nodes, WatchRegistry watches, IntSupplier sessionOrder) {
        this.path = path;
        this.nodes = nodes;
        this.watches = watches;
        this.sessionOrder = sessionOrder;
    }

    /** Whether the path is used for the first time. */
    public boolean isNew() {
        return uses == 1;
    }

    /**
     * Called before each use of the path. The path is watched from the second use on, unless others were seen there.
     */
    void use() {
        uses++;
        if (uses > 1 && !isWatched && wasAlone) {
            isWatched = true;
            watches.subscribe(path, this);
        }
    }

    /** Forgets what is known, and stops watching the path. */
    void end() {
        forget();
        if (isWatched) {
            isWatched = false;
            watches.unsubscribe(path, this);
        }
    }

    /** Whether the queue was known when our last node was created, and nothing has happened to the path since. */
    public boolean isKnown() {
        return isKnown && knownSinceRead == reads && isUndisturbed() && order == sessionOrder.getAsInt();
    }

    private boolean isUndisturbed() {
        return isWatched && watches.tellsContentOf(path);
    }

    /** Returns the rule of the lock, which is the data of the path; empty if the list was taken without it. */
    public Optional<Content> rule() {
        return rule;
    }

    /**
     * Records a node that we have created. {@code more} is how many other nodes the same transaction has created after
     * it. What was known stays known if the number is the expected one.
     */
    public void onCreated(String name, long number, int more) {
        wasExpected = number == expected;
        isKnown = isKnown() && wasExpected && names.size() < MOST_NAMES;
        expected = number + 1 + more;
        if (isKnown) {
            names.add(name);
        } else {
            names.clear();
        }
    }

    /** Records that the path was created together with this node of ours, which is the first below it. */
    public void onMade(String name, long number) {
        expected = number + 1;
        wasExpected = true;
        wasAlone = true;
    }

    /** Forgets what is known of the queue, because a create of ours has failed or got no answer. */
    public void forget() {
        isKnown = false;
        wasExpected = false;
        expected = NONE;
        names.clear();
    }

    /**
     * Records a list that was taken after our last node was created and that should show {@code own}, a node of ours.
     * If the path is watched at the time of the answer, the watch was set before the list was taken, because answers
     * come in the order of the requests, and no event has come since. Call only with a list that was answered just now.
     */
    public void onListed(ChildrenSnapshot list, String own) {
        List<String> listed = list.names(path);
        wasAlone = listed.size() <= MOST_NAMES
                && listed.contains(own)
                && listed.stream().allMatch(this::isOurs);
        isKnown = wasAlone && wasExpected && isUndisturbed();
        names.clear();
        if (isKnown) {
            names.addAll(listed);
        }
        rule = list.rule(path);
        order = sessionOrder.getAsInt();
        knownSinceRead = reads;
    }

    private boolean isOurs(String name) {
        return nodes.has(NodeId.in(name));
    }

    /**
     * Returns the queue, less the nodes that are known to be gone, as if it had been listed just now. See
     * {@link ChildrenSnapshot#turn} for the number.
     */
    public ChildrenSnapshot queue(long turn) {
        names.removeIf(name -> !isOurs(name));
        return ChildrenSnapshot.known(path, names, rule, turn);
    }

    @Override
    public void onRead(String watched, Content content) {
        reads++;
    }

    @Override
    public void onGone(String watched) {
        isWatched = false; // the subscription has ended
        wasAlone = false;
        uses = 0;
        forget();
    }

    @Override
    public void onRefused(String watched, Answer<?> answer) {
        onGone(watched);
    }
}

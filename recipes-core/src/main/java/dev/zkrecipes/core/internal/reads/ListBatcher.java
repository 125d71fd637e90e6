// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import dev.zkrecipes.core.internal.handle.RecentlyUsed;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.ListQuery;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

/**
 * Lists lock paths on behalf of the requests of one session. Requests for the same list that come while the
 * engine is busy with other tasks are served by one list, which is sent after these tasks. It shows every create that
 * the session sent before. So if a thousand requests begin or are woken at the same time, they cost one list, which is
 * also sorted only once.
 *
 * <p>The number of unanswered lists is limited, and the rest are sent as answers come: the answers to ten thousand
 * lists would not fit into the heap. Lists that follow a write are not limited.
 *
 * <p>Several paths, or a path together with its data, are read by one multi-read. If the answer to a read of several
 * paths is lost with the connection, it may have been too large for a packet, so these paths are listed one by one from
 * then on. Confined to the engine thread.
 */
public final class ListBatcher {

    /** A packet has room for ten times this number of names. */
    private static final int SMALL = 1000;
    /**
     * The most unanswered lists. Answers come one after the other, so this number is reached only if they come slowly.
     */
    static final int MOST_UNDER_WAY = 64;

    private final ZooKeeperOperations zk;
    private final EngineScheduler scheduler;
    private final BiConsumer<List<String>, Consumer<Answer<List<OpResult>>>> check;
    private final Map<ListQuery, Asked> asked = new LinkedHashMap<>(); // not sent yet
    private final Map<ListQuery, Asked> askedBehindWrite = new LinkedHashMap<>(); // not sent yet
    private int underWay; // lists that were sent and not answered
    private boolean isSending; // whether the task that sends is scheduled
    private final RecentlyUsed<ListQuery, Boolean> perhapsTooLarge = new RecentlyUsed<>(); // for one packet
    private final PersistentChildren persistent;
    private long answers; // numbers the answers; counts each answered list, and what was known without one

    /** A list that is to be sent, and the receivers that wait for it. */
    private final class Asked {
        private final ListQuery query;
        private final List<Consumer<ChildrenSnapshot>> replies = new ArrayList<>(1);

        Asked(ListQuery query) {
            this.query = query;
        }

        /** Called when the list was answered. Sends the next list, and passes this one to the receivers. */
        void tell(ChildrenSnapshot list) {
            underWay--;
            if (!asked.isEmpty()) {
                sendSoon();
            }
            ChildrenSnapshot shown = persistent.leftOutOf(list);
            for (Consumer<ChildrenSnapshot> reply : replies) {
                reply.accept(shown);
            }
        }
    }

    /** {@code check} sends a small committed write, see {@code Session.check}. */
    public ListBatcher(
            ZooKeeperOperations zk,
            EngineScheduler scheduler,
            BiConsumer<List<String>, Consumer<Answer<List<OpResult>>>> check) {
        this.zk = zk;
        this.scheduler = scheduler;
        this.check = check;
        this.persistent = new PersistentChildren(zk);
    }

    /** Returns the children that are known not to be lock nodes, which are left out of every list of this session. */
    public PersistentChildren persistent() {
        return persistent;
    }

    /** Returns the number of the last answer. */
    public long answers() {
        return answers;
    }

    /**
     * Returns a number for queues that are known now without a list. They are later than every list so far: a list of
     * several paths may come late, with a number that one of its paths has had for long.
     */
    public long numberOfKnown() {
        return ++answers;
    }

    /** Requests a list. It is sent after everything that this session has sent so far. */
    public void ask(ListQuery query, Consumer<ChildrenSnapshot> reply) {
        ask(asked, query, reply);
    }

    /**
     * Requests a list that shows the outcome of every write that this session has sent so far, even if the answer to
     * the write was lost. The list is sent after another write, because a write is committed only after the earlier
     * writes of the same session, or instead of them. {@code sync} would not do, because it does not wait for writes
     * that are under way.
     */
    public void askBehindWrite(ListQuery query, Consumer<ChildrenSnapshot> reply) {
        ask(askedBehindWrite, query, reply);
    }

    private void ask(Map<ListQuery, Asked> kind, ListQuery query, Consumer<ChildrenSnapshot> reply) {
        kind.computeIfAbsent(query, Asked::new).replies.add(reply);
        sendSoon();
    }

    /** Sends the requested lists once the engine has completed its present tasks. */
    private void sendSoon() {
        if (!isSending) {
            isSending = true;
            scheduler.execute(this::send);
        }
    }

    private void send() {
        isSending = false;
        while (underWay < MOST_UNDER_WAY && !asked.isEmpty()) {
            Asked next = asked.values().iterator().next();
            asked.remove(next.query);
            underWay++;
            send(next.query, next::tell);
        }
        List<Asked> behindWrite = List.copyOf(askedBehindWrite.values());
        askedBehindWrite.clear();
        behindWrite.forEach(this::sendBehindWrite);
    }

    /** Sends a write and the list together. The list counts only if the write was committed. */
    private void sendBehindWrite(Asked asking) {
        underWay++;
        ListQuery query = asking.query;
        List<Answer<?>> written = new ArrayList<>(); // holds the answer to the write when the list is answered
        check.accept(query.parts().stream().map(ListQuery.Part::path).toList(), written::add);
        send(query, list -> {
            Answer<?> write = written.isEmpty() ? list.answer() : written.get(0);
            // The answer that a path is missing is committed, too.
            boolean committed = write.isOk() || write.code() == Code.NONODE;
            asking.tell(committed ? list : new ChildrenSnapshot(write));
        });
    }

    /** Sends the list in the cheapest sufficient way. */
    private void send(ListQuery query, Consumer<ChildrenSnapshot> recipient) {
        ListQuery.Part first = query.parts().get(0);
        if (query.parts().size() == 1 && !first.withRule()) {
            zk.children(first.path(), answer -> recipient.accept(ChildrenSnapshot.of(first, answer, ++answers)));
        } else if (perhapsTooLarge.get(query) == null) {
            sendTogether(query, recipient);
        } else {
            sendOneByOne(query, recipient);
        }
    }

    private void sendTogether(ListQuery query, Consumer<ChildrenSnapshot> recipient) {
        List<Op> reads = new ArrayList<>();
        for (ListQuery.Part part : query.parts()) {
            reads.add(Op.getChildren(part.path()));
            if (part.withRule()) {
                // After the children: the rule may be newer than the list that it is read with, but not older.
                reads.add(Op.getData(part.path()));
            }
        }
        zk.multi(reads, answer -> {
            if (answer.code() == Code.CONNECTIONLOSS && query.parts().size() > 1) {
                perhapsTooLarge.put(query, true);
            }
            recipient.accept(ChildrenSnapshot.of(query.parts(), answer, ++answers));
        });
    }

    /** Lists each path separately. If all lists are small, the paths may be read together again. */
    private void sendOneByOne(ListQuery query, Consumer<ChildrenSnapshot> recipient) {
        List<ChildrenSnapshot> lists = new ArrayList<>();
        for (ListQuery.Part part : query.parts()) {
            send(new ListQuery(List.of(part)), list -> {
                lists.add(list);
                if (lists.size() == query.parts().size()) {
                    ChildrenSnapshot together = ChildrenSnapshot.together(lists);
                    if (together.code() == Code.OK && together.size() < SMALL) {
                        perhapsTooLarge.remove(query); // the connection was lost for another reason
                    }
                    recipient.accept(together);
                }
            });
        }
    }
}

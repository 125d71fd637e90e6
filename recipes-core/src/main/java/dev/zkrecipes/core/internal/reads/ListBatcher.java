// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import dev.zkrecipes.core.internal.handle.RecentlyUsed;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.ListQuery;
import dev.zkrecipes.core.internal.session.Session;
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
 * The lists of lock paths that attempts of one session ask for. A list that is asked for while the engine is busy with
 * other tasks is sent once, after them, and serves all requests for it: a list shows every create of the session that
 * was sent before it. So a thousand attempts that begin or are woken at once cost one list, sorted once. Only so many
 * are under way at a time, and the rest is sent after the next answer: ten thousand of them do not fit into a heap.
 *
 * <p>Several paths, or a path with its data, are read by one multi-read. If the answer to one of several paths is lost
 * with the connection, it may have been larger than a packet can be: from then on those paths are listed one by one.
 */
public final class ListBatcher {

    /** A number of names that fits a packet ten times over. */
    private static final int SMALL = 1000;
    /** Answers come one after the other, so more are under way only if they come slowly. */
    static final int MOST_UNDER_WAY = 64;

    private final ZooKeeperOperations zk;
    private final EngineScheduler scheduler;
    private final BiConsumer<List<String>, Consumer<Answer<List<OpResult>>>> check;
    private final Map<ListQuery, Asked> asked = new LinkedHashMap<>();
    private final Map<ListQuery, Asked> askedBehindWrite = new LinkedHashMap<>();
    private int underWay; // lists that are sent and not answered
    private boolean isSending; // the task is under way
    private final RecentlyUsed<ListQuery, Boolean> perhapsTooLarge = new RecentlyUsed<>();
    private final PersistentChildren persistent;
    private long answers; // to lists, so far

    private final class Asked {
        private final ListQuery query;
        private final List<Consumer<ChildrenSnapshot>> replies = new ArrayList<>(1);

        Asked(ListQuery query) {
            this.query = query;
        }

        void tell(ChildrenSnapshot list) {
            underWay--;
            if (!asked.isEmpty()) {
                sendSoon();
            }
            ChildrenSnapshot shown = persistent.leftOutOf(list);
            for (int i = 0; i < replies.size(); i++) {
                replies.get(i).accept(shown);
            }
        }
    }

    /** {@code check} sends a small write that is committed, see {@link Session#check}. */
    public ListBatcher(
            ZooKeeperOperations zk,
            EngineScheduler scheduler,
            BiConsumer<List<String>, Consumer<Answer<List<OpResult>>>> check) {
        this.zk = zk;
        this.scheduler = scheduler;
        this.check = check;
        this.persistent = new PersistentChildren(zk);
    }

    public PersistentChildren persistent() {
        return persistent;
    }

    /** Asks for a list that is sent after everything that was sent so far. */
    public void ask(ListQuery query, Consumer<ChildrenSnapshot> reply) {
        ask(asked, query, reply);
    }

    /**
     * Asks for a list that shows the outcome of every write that this session has sent so far, even if its answer was
     * lost. {@code sync} would not do: it does not wait for writes that are under way. A write of the same session
     * does: it is committed behind them, or instead of them. So the list is sent behind one.
     */
    public void askBehindWrite(ListQuery query, Consumer<ChildrenSnapshot> reply) {
        ask(askedBehindWrite, query, reply);
    }

    private void ask(Map<ListQuery, Asked> kind, ListQuery query, Consumer<ChildrenSnapshot> reply) {
        kind.computeIfAbsent(query, Asked::new).replies.add(reply);
        sendSoon();
    }

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

    private void sendBehindWrite(Asked asking) {
        underWay++;
        ListQuery query = asking.query;
        List<Answer<?>> written = new ArrayList<>(); // has one when the server answers the list
        check.accept(query.parts().stream().map(ListQuery.Part::path).toList(), written::add);
        send(query, list -> {
            Answer<?> write = written.isEmpty() ? list.answer() : written.get(0);
            // A missing path is an answer too, and a committed one.
            boolean committed = write.isOk() || write.code() == Code.NONODE;
            asking.tell(committed ? list : new ChildrenSnapshot(write));
        });
    }

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
                // After the children: a rule may be newer than the list that it is read with, not older.
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

    private void sendOneByOne(ListQuery query, Consumer<ChildrenSnapshot> recipient) {
        List<ChildrenSnapshot> lists = new ArrayList<>();
        for (ListQuery.Part part : query.parts()) {
            send(new ListQuery(List.of(part)), list -> {
                lists.add(list);
                if (lists.size() == query.parts().size()) {
                    ChildrenSnapshot together = ChildrenSnapshot.together(lists);
                    if (together.code() == Code.OK && together.size() < SMALL) {
                        perhapsTooLarge.remove(query); // it was just the connection
                    }
                    recipient.accept(together);
                }
            });
        }
    }
}

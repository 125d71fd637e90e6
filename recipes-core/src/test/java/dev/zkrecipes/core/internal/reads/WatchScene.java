// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.handle.Containers;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A connected session with one node, and listeners to what becomes of the node. */
public class WatchScene {
    static final String NODE = "lock-0000000001";
    static final String PATH = "/locks/" + NODE;
    static final Duration RETRY = Duration.ofSeconds(1);

    public final ManualScheduler scheduler = new ManualScheduler();
    public final ScriptedOperations operations = new ScriptedOperations(scheduler);
    public final Session session = new Session(
            states -> operations,
            scheduler,
            new Containers(false, scheduler),
            operations.sessionTimeout(),
            RETRY,
            true,
            (ended, state) -> {});
    public final WatchRegistry registry = session.watches();

    public WatchScene() {
        operations.add(NODE);
        session.begin();
    }

    /** Notes what it is told, in both ways of subscribing. */
    static class Listener implements WatchRegistry.Subscriber {
        final List<String> told = new ArrayList<>();

        @Override
        public void onRead(String path, Content content) {
            told.add("read " + content.stat().getVersion());
        }

        @Override
        public void onGone(String path) {
            told.add("gone");
        }

        @Override
        public void onRefused(String path, Answer<?> answer) {
            told.add("refused " + answer.code());
        }
    }

    /** What one subscribes to. */
    enum Kind {
        DATA(Request.WATCH, "read 0"),
        DELETION(Request.WATCH_DELETION);

        final Request request;

        /** What a listener to a node that is there is told as soon as its watch is set. */
        final List<String> toldAtOnce;

        Kind(Request request, String... toldAtOnce) {
            this.request = request;
            this.toldAtOnce = List.of(toldAtOnce);
        }
    }

    Listener subscribed(Kind kind) {
        Listener listener = new Listener();
        if (kind == Kind.DATA) {
            registry.subscribe(PATH, listener);
        } else {
            registry.subscribeToDeletion(PATH, listener);
        }
        scheduler.run();
        return listener;
    }

    void unsubscribe(Kind kind, Listener listener) {
        if (kind == Kind.DATA) {
            registry.unsubscribe(PATH, listener);
        } else {
            registry.unsubscribeFromDeletion(PATH, listener);
        }
    }

    Listener waiting() {
        return subscribed(Kind.DELETION);
    }

    Listener reading() {
        return subscribed(Kind.DATA);
    }
}

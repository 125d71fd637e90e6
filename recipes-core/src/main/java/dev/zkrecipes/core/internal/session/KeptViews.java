// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The kept views of one session: of the paths that were used last. A view that was not used for a while goes, and its
 * watch with it; so does the one that was not used for the longest time if there are too many. Confined to the engine
 * thread.
 */
public final class KeptViews {
    /** More paths than a client uses again and again within a minute. */
    static final int MOST = 1000;

    private static final Duration UNUSED = Duration.ofSeconds(45);

    private final SessionNodes nodes;
    private final WatchRegistry watches;
    private final IntSupplier order;
    private final EngineScheduler scheduler;
    private final Map<String, KeptView> views = new LinkedHashMap<>(16, 0.75f, true); // the eldest was not used longest
    private @Nullable Timer nextLook; // null if there are no views

    /** {@code order} is that of the session, which changes with each connection. */
    KeptViews(SessionNodes nodes, WatchRegistry watches, IntSupplier order, EngineScheduler scheduler) {
        this.nodes = nodes;
        this.watches = watches;
        this.order = order;
        this.scheduler = scheduler;
    }

    /** The view of a path that is about to be used. A path that is used once pays for no watch. */
    public KeptView use(String path) {
        KeptView view = views.get(path);
        if (view == null) {
            view = new KeptView(path, nodes, watches, order);
            views.put(path, view);
            endEldestIfTooMany();
        }
        view.use();
        view.usedAt = scheduler.nanoTime();
        planLook();
        return view;
    }

    /** The path is gone, or not there: it is used for the first time again. */
    public void remove(String path) {
        KeptView view = views.remove(path);
        if (view != null) {
            view.end();
        }
    }

    /** Ends all views: the session has ended, or its handle is left to the application, without our watches. */
    public void end() {
        views.values().forEach(KeptView::end);
        views.clear();
        if (nextLook != null) {
            nextLook.cancel();
            nextLook = null;
        }
    }

    private void endEldestIfTooMany() {
        if (views.size() > MOST) {
            remove(views.keySet().iterator().next());
        }
    }

    private void planLook() {
        if (nextLook == null && !views.isEmpty()) {
            KeptView eldest = views.values().iterator().next();
            long age = scheduler.nanoTime() - eldest.usedAt;
            nextLook = scheduler.schedule(UNUSED.minusNanos(age), this::look);
        }
    }

    private void look() {
        nextLook = null;
        long now = scheduler.nanoTime();
        List<KeptView> unused = new ArrayList<>();
        for (KeptView view : views.values()) {
            if (now - view.usedAt < UNUSED.toNanos()) {
                break; // the others were used later
            }
            unused.add(view);
        }
        unused.forEach(view -> remove(view.path));
        planLook();
    }
}

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
 * The kept views of the most recently used paths of one session. A view that has not been used for a while is removed,
 * and its watch with it. If there are too many views, the least recently used one is removed. Confined to the engine
 * thread.
 */
public final class KeptViews {
    /** More paths than a client is expected to use repeatedly within a minute. */
    static final int MOST = 1000;

    private static final Duration UNUSED = Duration.ofSeconds(45);

    private final SessionNodes nodes;
    private final WatchRegistry watches;
    private final IntSupplier order;
    private final EngineScheduler scheduler;
    private final Map<String, KeptView> views = new LinkedHashMap<>(16, 0.75f, true); // in access order
    private @Nullable Timer nextLook; // null if there are no views

    /** {@code order} supplies {@link Session#order}, which changes with each connection. */
    KeptViews(SessionNodes nodes, WatchRegistry watches, IntSupplier order, EngineScheduler scheduler) {
        this.nodes = nodes;
        this.watches = watches;
        this.order = order;
        this.scheduler = scheduler;
    }

    /** Returns the view of a path that is about to be used. A path that is used only once is not watched. */
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

    /** Removes the view of a path that is gone or does not exist. The next use of the path counts as the first. */
    public void remove(String path) {
        KeptView view = views.remove(path);
        if (view != null) {
            view.end();
        }
    }

    /**
     * Removes all views, because the session has ended or because the application gets its handle back, without our
     * watches.
     */
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

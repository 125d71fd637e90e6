// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    private final Session session;
    private final EngineScheduler scheduler;
    private final Map<String, KeptView> views = new LinkedHashMap<>(16, 0.75f, true); // the eldest was not used longest
    private @Nullable Timer nextLook; // null if there are no views

    KeptViews(Session session, EngineScheduler scheduler) {
        this.session = session;
        this.scheduler = scheduler;
    }

    /** Whether the path was used lately. */
    public boolean has(String path) {
        return views.containsKey(path);
    }

    /** The view of a path that is about to be used. A path that is used once pays for no watch. */
    public KeptView use(String path) {
        KeptView view = views.get(path);
        if (view == null) {
            view = new KeptView(session, path);
            views.put(path, view);
            endEldestIfTooMany();
        } else {
            view.useAgain();
        }
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

    /** The session has ended, and with it all watches. */
    void end() {
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

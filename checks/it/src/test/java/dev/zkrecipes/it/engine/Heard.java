// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An observer that keeps what it is told, as words, and on which threads. */
final class Heard implements LockObserver {
    final List<String> words = new CopyOnWriteArrayList<>();
    final List<Request> requests = new CopyOnWriteArrayList<>();
    final List<String> threads = new CopyOnWriteArrayList<>();

    private void hear(String word) {
        threads.add(Thread.currentThread().getName());
        words.add(word);
    }

    @Override
    public Progress onWaiting(Request request) {
        requests.add(request);
        hear("waiting");
        return new Progress() {
            @Override
            public void onGranted(Duration waited) {
                hear("granted");
            }

            @Override
            public void onAbandoned(Duration waited, Ending how) {
                hear(how.name());
            }

            @Override
            public void onReleased(Duration held) {
                hear("released");
            }

            @Override
            public void onLost(Duration held, String reason) {
                hear("lost: " + reason);
            }

            @Override
            public void onRevocationRequested() {
                hear("asked");
            }
        };
    }
}

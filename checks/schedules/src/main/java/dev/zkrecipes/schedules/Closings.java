// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import static dev.zkrecipes.schedules.PlayScene.PATH;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.schedules.PlayScene.Kind;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * Plays in which a call and the close of its client happen at the same time. The call ends as it would before or after
 * the close, and without delay.
 */
final class Closings {
    static final List<Play> ALL = List.of(
            closing("acquire", mutex -> mutex.acquire().close()),
            closing("async", mutex -> mutex.acquireAsync().get().close()),
            closing("try", mutex -> mutex.tryAcquire().ifPresent(Lease::close)),
            closing("timed", mutex -> mutex.tryAcquire(Duration.ofSeconds(5)).ifPresent(Lease::close)),
            closing("participants", InterProcessMutex::participants),
            new Play("client-close-against-waiting", scene -> waiting(scene, Kind::strict)),
            new Play("client-close-against-hand-off", scene -> waiting(scene, Kind.passedOn(10))),
            new Play("client-close-against-kept", scene -> waiting(scene, Kind::kept)),
            new Play("client-close-against-close", scene -> held(scene, Lease::close)),
            new Play(
                    "client-close-against-async-close",
                    scene -> held(scene, lease -> lease.closeAsync().get())),
            new Play("client-close-against-verify", scene -> held(scene, Lease::verify)),
            new Play("client-close-against-revocation", Closings::revocation),
            new Play("client-close-against-resize", Closings::resize),
            new Play("client-close-against-client-close", Closings::twice),
            new Play("client-close-against-session-end", Closings::sessionEnd));

    private Closings() {}

    private interface Call {
        void on(InterProcessMutex mutex) throws InterruptedException, ExecutionException;
    }

    private interface Use {
        void of(Lease lease) throws InterruptedException, ExecutionException;
    }

    private static Play closing(String what, Call call) {
        return new Play("client-close-against-" + what, scene -> {
            ZooKeeperClient client = scene.client();
            InterProcessMutex mutex = new InterProcessMutex(client, PATH);
            scene.start("calls", () -> PlayScene.endsAs(ClientClosedException.class, () -> call.on(mutex)));
            scene.start("closes the client", client::close);
        });
    }

    private static void waiting(PlayScene scene, Kind kind) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessLock mutex = kind.on(client, LockOptions.defaults());
        Lease held = mutex.acquireAsync().get();
        scene.start(
                "waits",
                () -> PlayScene.endsAs(
                        ClientClosedException.class, () -> mutex.acquire().close()));
        scene.start("releases", held::close);
        scene.start("closes the client", client::close);
        scene.joinAll();
        PlayScene.expectOneEnd(held);
    }

    private static void held(PlayScene scene, Use use) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        Lease held = new InterProcessMutex(client, PATH).acquireAsync().get();
        scene.start(
                "uses it",
                () -> PlayScene.endsAs(
                        LockLostException.class,
                        () -> PlayScene.endsAs(ClientClosedException.class, () -> use.of(held))));
        scene.start("closes the client", client::close);
        scene.joinAll();
        PlayScene.expectOneEnd(held);
    }

    private static void revocation(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        Lease held = new InterProcessMutex(scene.client(), PATH).acquireAsync().get();
        held.onRevocationRequested(request -> {
            var unused = held.closeAsync();
        });
        scene.start(
                "asks for it",
                () -> PlayScene.endsAs(ClientClosedException.class, () -> {
                    for (Revocation asked : new Revoker(client).request(new InterProcessMutex(client, PATH))) {
                        asked.outcome().get();
                    }
                }));
        scene.start("closes the client", client::close);
    }

    private static void resize(PlayScene scene) throws InterruptedException {
        ZooKeeperClient client = scene.client();
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, PlayScene.OF_SEMAPHORE, 1);
        scene.start("resizes", () -> PlayScene.endsAs(ClientClosedException.class, () -> semaphore.resize(2)));
        scene.start("closes the client", client::close);
    }

    private static void twice(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        Lease held = new InterProcessMutex(client, PATH).acquireAsync().get();
        scene.start("closes the client", client::close);
        scene.start("closes the client, too", client::close);
        scene.joinAll();
        PlayScene.expectOneEnd(held);
    }

    private static void sessionEnd(PlayScene scene) throws InterruptedException {
        ZooKeeperClient client = scene.client();
        InterProcessMutex mutex = new InterProcessMutex(client, PATH);
        scene.start(
                "asks",
                () -> PlayScene.endsAs(
                        LockException.class, () -> mutex.acquire().close()));
        scene.closingTakesTime();
        scene.start("ends the session", scene::expire);
        scene.start("closes the client", client::close);
    }
}

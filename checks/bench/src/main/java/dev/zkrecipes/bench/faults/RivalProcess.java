// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.faults.Rival.Turn;
import dev.zkrecipes.bench.faults.Tenure.Outcome;
import dev.zkrecipes.bench.faults.Tenure.Span;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.RemoteException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A process with one session of each contender, so that a stop or a kill hits all of them at the same moment. A
 * thread for each lock of each takes it again and again, and adds one to a counter of each store.
 */
final class RivalProcess {
    static final Duration SESSION = Duration.ofSeconds(4);
    /** Of each contender. */
    static final int LOCKS = 3;

    /** Most stay for 50 to 250 ms, one in twenty for up to six seconds. */
    private static final int LEAST_STAY_MILLIS = 50;

    private static final int STAY_MILLIS = 200;
    private static final int LONG_STAY_MILLIS = 6_000;
    private static final int LONG_ONE_IN = 20;
    private static final long ASK_EVERY_NANOS = 3_000_000;
    /** From the question whether the lock is still held to the writes: no store is reached at once. */
    private static final int ON_THE_WAY_MILLIS = 10;

    private static final List<Outcome> NOTHING_WRITTEN =
            List.of(Outcome.HELD_BACK, Outcome.HELD_BACK, Outcome.HELD_BACK);

    private final String name;
    private final RefereeCalls referee;
    private volatile boolean finishing;

    RivalProcess(String name, RefereeCalls referee) {
        this.name = name;
        this.referee = referee;
    }

    static String path(Contender contender, int lock) {
        return "/faults/" + contender + "/" + lock;
    }

    /** The counter of a lock for guarded writes. */
    static String counter(Contender contender, int lock) {
        return "/counters/" + contender + "-" + lock;
    }

    /** Arguments: connect string, file with the referee, name, seed. Its input has "finish", and "close" later. */
    public static void main(String[] args) throws Exception {
        RefereeCalls referee;
        try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(Path.of(args[1])))) {
            referee = (RefereeCalls) in.readObject();
        }
        referee.begun(System.nanoTime());
        RivalProcess process = new RivalProcess(args[2], referee);
        Map<Contender, Rival> rivals = process.start(args[0], SESSION, Long.parseLong(args[3]));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            process.finish();
            if (line.equals("close")) {
                for (Rival rival : rivals.values()) {
                    rival.close();
                }
                System.exit(0);
            }
        }
        Runtime.getRuntime().halt(1); // the parent has ended
    }

    /** Sessions and threads. */
    Map<Contender, Rival> start(String connectString, Duration sessionTimeout, long seed) {
        Map<Contender, Rival> rivals = new EnumMap<>(Contender.class);
        rivals.put(Contender.OURS, new OurRival(connectString, sessionTimeout));
        rivals.put(Contender.CURATOR, new CuratorRival(connectString, sessionTimeout));
        rivals.put(Contender.BARE, new TextbookRival(connectString, sessionTimeout));
        rivals.forEach((contender, rival) -> {
            for (int lock = 0; lock < LOCKS; lock++) {
                int number = lock;
                Random random = new Random(seed + lock); // all contenders stay equally long
                Thread thread = new Thread(() -> work(contender, rival, number, random), contender + "-" + lock);
                thread.setDaemon(true);
                thread.start();
            }
        });
        return rivals;
    }

    /** Each thread takes its lock once more, and ends. */
    void finish() {
        finishing = true;
    }

    private void work(Contender contender, Rival rival, int lock, Random random) {
        try {
            boolean last = false;
            while (!last) {
                last = finishing;
                try {
                    int most = random.nextInt(LONG_ONE_IN) == 0 ? LONG_STAY_MILLIS : STAY_MILLIS;
                    takeTurn(contender, rival, lock, LEAST_STAY_MILLIS + random.nextInt(most));
                } catch (RemoteException | InterruptedException e) {
                    throw e;
                } catch (Exception e) {
                    referee.failed(contender, e.toString());
                    Thread.sleep(STAY_MILLIS);
                    last = false;
                }
            }
            referee.served(contender, name + " " + lock);
        } catch (RemoteException | InterruptedException e) {
            throw new IllegalStateException("the run has ended", e);
        }
    }

    private void takeTurn(Contender contender, Rival rival, int lock, int stayMillis) throws Exception {
        long asked = System.nanoTime();
        Turn turn = rival.acquire(path(contender, lock));
        Tenure tenure = new Tenure(
                contender,
                lock,
                name,
                turn.token(),
                turn.node(),
                asked,
                System.nanoTime(),
                List.of(),
                0,
                NOTHING_WRITTEN);
        try {
            referee.note(tenure);
            List<Span> believed = new ArrayList<>();
            List<Outcome> outcomes = holdAndWrite(tenure, rival, turn, believed, stayMillis);
            referee.note(tenure.ended(believed, outcomes));
        } finally {
            turn.release().close();
        }
    }

    private List<Outcome> holdAndWrite(Tenure tenure, Rival rival, Turn turn, List<Span> believed, int stayMillis)
            throws RemoteException, InterruptedException {
        Referee.Counter any = new Referee.Counter(tenure.contender(), tenure.lock(), false);
        Referee.Counter checked = new Referee.Counter(tenure.contender(), tenure.lock(), true);
        long value = referee.read(any, turn.token());
        long checkedValue = referee.read(checked, turn.token());
        ask(turn, believed, finishing ? 0 : stayMillis);
        if (!isBelieved(turn, believed)) {
            return NOTHING_WRITTEN;
        }
        ask(turn, believed, ON_THE_WAY_MILLIS); // only to know: the writes are made
        return List.of(
                write(any, turn, value),
                write(checked, turn, checkedValue),
                writeGuarded(rival, turn, counter(tenure.contender(), tenure.lock())));
    }

    private static void ask(Turn turn, List<Span> believed, long millis) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(millis)) {
            isBelieved(turn, believed);
            LockSupport.parkNanos(ASK_EVERY_NANOS);
        }
    }

    /** Asks. The time is that before the question, so a stop in between prolongs no belief. */
    private static boolean isBelieved(Turn turn, List<Span> believed) {
        long now = System.nanoTime();
        boolean yes = turn.believed().getAsBoolean();
        if (yes) {
            Tenure.note(believed, now);
        }
        return yes;
    }

    private Outcome write(Referee.Counter counter, Turn turn, long valueRead) throws RemoteException {
        return valueRead != RefereeCalls.REFUSED
                        && referee.write(counter, turn.token(), valueRead + 1) != RefereeCalls.REFUSED
                ? Outcome.DONE
                : Outcome.REFUSED;
    }

    private static Outcome writeGuarded(Rival rival, Turn turn, String counter) throws InterruptedException {
        try {
            ZooKeeper handle = rival.handle();
            while (true) {
                Stat stat = new Stat();
                String text = new String(handle.getData(counter, false, stat), StandardCharsets.US_ASCII);
                String next = Long.parseLong(text.split(" ", -1)[0]) + 1 + " " + turn.node();
                byte[] data = next.getBytes(StandardCharsets.US_ASCII);
                try {
                    handle.multi(List.of(turn.guard(), Op.setData(counter, data, stat.getVersion())));
                    return Outcome.DONE;
                } catch (KeeperException.BadVersionException e) {
                    handle.sync(counter); // the read came from a server that was behind
                }
            }
        } catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException e) {
            return Outcome.REFUSED;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            return Outcome.UNKNOWN;
        }
    }
}

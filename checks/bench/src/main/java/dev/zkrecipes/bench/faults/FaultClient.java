// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.LockClient;
import dev.zkrecipes.bench.contender.LockClient.Turn;
import dev.zkrecipes.bench.contender.Subject;
import dev.zkrecipes.bench.faults.Referee.Counter;
import dev.zkrecipes.bench.faults.Tenure.Outcome;
import dev.zkrecipes.bench.faults.Tenure.Span;
import java.nio.charset.StandardCharsets;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A client process with one session of each subject, so that a stop or a kill hits all of them at the same moment. For
 * each lock of each subject, a thread takes the lock again and again, and adds one to a counter in each of three
 * stores.
 */
interface FaultClient extends Remote {
    Duration SESSION = Duration.ofSeconds(4);
    /** The number of locks of each subject. */
    int LOCKS = 3;

    /** Has each thread take its lock once more and then end. Returns at once. */
    void finish() throws RemoteException;

    /** Ends the sessions. */
    void close() throws Exception;

    /** The sessions and the threads of this process. */
    final class Threads implements FaultClient {
        /** How long holders keep their locks: most for 50 to 250 ms, one in twenty for up to six seconds. */
        private static final int LEAST_STAY_MILLIS = 50;

        private static final int STAY_MILLIS = 200;
        private static final int LONG_STAY_MILLIS = 6_000;
        private static final int LONG_ONE_IN = 20;
        private static final long ASK_EVERY_NANOS = 3_000_000;
        /**
         * The time between the check whether the lock is still held and the writes, because no store is reached at
         * once.
         */
        private static final int ON_THE_WAY_MILLIS = 10;

        private final String name;
        private final Referee referee;
        private final List<LockClient> clients = new ArrayList<>();
        private volatile boolean finishing;

        Threads(
                String name,
                List<? extends Subject> subjects,
                Referee referee,
                String connectString,
                Duration sessionTimeout,
                long seed)
                throws Exception {
            this.name = name;
            this.referee = referee;
            referee.begun(System.nanoTime());
            for (Subject subject : subjects) {
                LockClient client = subject.connect(connectString, sessionTimeout);
                clients.add(client);
                for (int lock = 0; lock < LOCKS; lock++) {
                    int number = lock;
                    Random random = new Random(seed + lock); // so that all subjects hold equally long
                    Thread thread = new Thread(() -> work(subject, client, number, random), subject + "-" + lock);
                    thread.setDaemon(true);
                    thread.start();
                }
            }
        }

        static String path(Subject subject, int lock) {
            return "/faults/" + subject + "/" + lock;
        }

        /** Returns the path of the counter for the guarded writes of a lock. */
        static String counter(Subject subject, int lock) {
            return "/counters/" + subject + "-" + lock;
        }

        @Override
        public void finish() {
            finishing = true;
        }

        @Override
        public void close() throws Exception {
            for (LockClient client : clients) {
                client.close();
            }
        }

        private void work(Subject subject, LockClient client, int lock, Random random) {
            try {
                boolean last = false;
                while (!last) {
                    last = finishing;
                    try {
                        int most = random.nextInt(LONG_ONE_IN) == 0 ? LONG_STAY_MILLIS : STAY_MILLIS;
                        takeTurn(subject, client, lock, LEAST_STAY_MILLIS + random.nextInt(most));
                    } catch (RemoteException | InterruptedException e) {
                        throw e;
                    } catch (Exception e) {
                        referee.failed(subject);
                        Thread.sleep(STAY_MILLIS);
                        last = false;
                    }
                }
                referee.served(subject, name + " " + lock);
            } catch (RemoteException | InterruptedException e) {
                throw new IllegalStateException("the run has ended", e);
            }
        }

        private void takeTurn(Subject subject, LockClient client, int lock, int stayMillis) throws Exception {
            long asked = System.nanoTime();
            Turn turn = client.acquire(path(subject, lock));
            Tenure tenure = Tenure.begun(subject, lock, name, turn, asked);
            try {
                referee.note(tenure);
                List<Span> believed = new ArrayList<>();
                List<Outcome> outcomes = holdAndWrite(tenure, client, turn, believed, stayMillis);
                referee.note(tenure.ended(believed, outcomes));
            } finally {
                turn.release().close();
            }
        }

        private List<Outcome> holdAndWrite(
                Tenure tenure, LockClient client, Turn turn, List<Span> believed, int stayMillis)
                throws RemoteException, InterruptedException {
            Subject subject = tenure.subject();
            if (turn.isShared()) {
                ask(turn, believed, finishing ? 0 : stayMillis);
                return Tenure.NOTHING_WRITTEN;
            }
            Counter any = new Counter(subject, tenure.lock(), false);
            Counter checked = new Counter(subject, tenure.lock(), true);
            long value = referee.read(any, turn.token());
            long checkedValue = referee.read(checked, turn.token());
            ask(turn, believed, finishing ? 0 : stayMillis);
            if (!isBelieved(turn, believed) && !subject.isCareless()) {
                return Tenure.NOTHING_WRITTEN;
            }
            ask(turn, believed, ON_THE_WAY_MILLIS); // only records: the writes follow in any case
            return List.of(
                    write(any, turn, value),
                    write(checked, turn, checkedValue),
                    writeGuarded(client, turn, counter(subject, tenure.lock())));
        }

        private static void ask(Turn turn, List<Span> believed, long millis) {
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(millis)) {
                isBelieved(turn, believed);
                LockSupport.parkNanos(ASK_EVERY_NANOS);
            }
        }

        /**
         * Returns whether the holder believes that it still holds the lock, and records the time if so. The time is
         * read before the check, so that a stop of the process in between does not prolong the belief.
         */
        private static boolean isBelieved(Turn turn, List<Span> believed) {
            long now = System.nanoTime();
            boolean yes = turn.believed().getAsBoolean();
            if (yes) {
                Tenure.note(believed, now);
            }
            return yes;
        }

        private Outcome write(Counter counter, Turn turn, long valueRead) throws RemoteException {
            return valueRead != Referee.REFUSED
                            && referee.write(counter, turn.token(), valueRead + 1) != Referee.REFUSED
                    ? Outcome.DONE
                    : Outcome.REFUSED;
        }

        private static Outcome writeGuarded(LockClient client, Turn turn, String counter) throws InterruptedException {
            try {
                ZooKeeper handle = client.handle();
                while (true) {
                    Stat stat = new Stat();
                    String text = new String(handle.getData(counter, false, stat), StandardCharsets.US_ASCII);
                    String next = Long.parseLong(text.split(" ", -1)[0]) + 1 + " " + turn.node();
                    byte[] data = next.getBytes(StandardCharsets.US_ASCII);
                    try {
                        List<Op> ops = new ArrayList<>(turn.guards());
                        ops.add(Op.setData(counter, data, stat.getVersion()));
                        handle.multi(ops);
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
}

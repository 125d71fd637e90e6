// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/** Draws steps on a few nodes below one path; knows from the model what is there, so that many of them succeed. */
final class RandomSteps {
    static final int SESSIONS = 3;
    /** The one that can lose its connection. */
    private static final Integer FIRST = 0;

    private static final int WATCHED = 6;
    private static final int MISSED = 6;
    private static final List<CreateMode> MODES =
            List.of(CreateMode.EPHEMERAL, CreateMode.PERSISTENT, CreateMode.CONTAINER, CreateMode.EPHEMERAL_SEQUENTIAL);
    /** In one transaction, all but the first child behind the end of the counter get numbers that wrap. */
    private static final List<CreateMode> UNNUMBERED = MODES.subList(0, 3);

    private static final List<List<ACL>> ACLS = List.of(
            Ids.OPEN_ACL_UNSAFE,
            List.of(new ACL(Perms.ALL, Ids.ANYONE_ID_UNSAFE), new ACL(Perms.READ, new Id("ip", "127.0.0.1"))));

    private final Random random;
    private final ModelSide model;
    private final String base;
    private final List<CreateMode> modes;
    private final List<Integer> open = new ArrayList<>();
    private final List<Watch> watches = new ArrayList<>();
    private final Set<String> watched = new TreeSet<>();
    private int opened;
    private int leaving; // so many steps ahead
    private int away; // for so many steps

    /** A watch that may be set repeatedly but is always of one kind, as each of the engine's is. */
    private record Watch(int session, String path, boolean forDeletion, String name) {}

    /**
     * Steps below a base.
     *
     * @param old whether the counter of the base is near its end
     */
    RandomSteps(Random random, ModelSide model, String base, boolean old) {
        this.random = random;
        this.model = model;
        this.base = base;
        this.modes = old ? UNNUMBERED : MODES;
        for (; opened < SESSIONS; opened++) {
            open.add(opened);
        }
    }

    /** A session that is open. */
    int session() {
        return any(open);
    }

    /** What others do while one is away. */
    private Step change() {
        int session = any(open.stream().filter(other -> !other.equals(FIRST)).toList());
        return switch (random.nextInt(3)) {
            case 0 -> Steps.delete(session, path());
            case 1 -> Steps.createEphemeralSequential(session, prefix(), data(), any(ACLS));
            default -> writes(session);
        };
    }

    /** Every path that was ever watched. */
    Set<String> watched() {
        return watched;
    }

    Step next() {
        if (away > 0) {
            return --away == 0 ? Steps.comeBack() : change();
        }
        if (leaving == 0 && open.contains(FIRST) && random.nextInt(200) == 0) {
            leaving = WATCHED;
        }
        if (leaving > 0) {
            return --leaving == 0 ? leave() : watch(FIRST);
        }
        int session = session();
        int kind = random.nextInt(100);
        if (kind < 14) {
            return Steps.createEphemeralSequential(session, prefix(), data(), any(ACLS));
        } else if (kind < 21) {
            return Steps.createContainer(session, fresh(), any(ACLS));
        } else if (kind < 27) {
            return Steps.children(session, path());
        } else if (kind < 32) {
            return Steps.read(session, path());
        } else if (kind < 34) {
            return Steps.acl(session, path());
        } else if (kind < 50) {
            return watch(session);
        } else if (kind < 54) {
            return dropWatch(session);
        } else if (kind < 64) {
            return Steps.delete(session, path());
        } else if (kind < 87) {
            return writes(session);
        } else if (kind < 93) {
            return reads(session);
        } else if (kind < 95) {
            return atTheRoot(session);
        } else if (kind < 97) {
            return Steps.reap(session);
        }
        return comeOrGo(session);
    }

    /** It takes its client up to a second to come back, so this is rare. */
    private Step leave() {
        away = MISSED;
        return Steps.leave();
    }

    /** If it is away. */
    Optional<Step> comeBack() {
        boolean wasAway = away > 0;
        away = 0;
        return wasAway ? Optional.of(Steps.comeBack()) : Optional.empty();
    }

    /** In half of the cases for the deletion only. */
    private Step watch(int session) {
        Watch watch = watchOf(session);
        return watch.forDeletion()
                ? Steps.watchChildren(session, watch.path(), watch.name())
                : Steps.readAndWatch(session, watch.path(), watch.name());
    }

    private Watch watchOf(int session) {
        List<Watch> own = ownWatches(session);
        if (!own.isEmpty() && random.nextInt(4) == 0) {
            return any(own);
        }
        Watch made =
                new Watch(session, path(), random.nextBoolean(), "watch " + watches.size() + " of session " + session);
        watches.add(made);
        watched.add(made.path());
        return made;
    }

    private Step dropWatch(int session) {
        List<Watch> own = ownWatches(session);
        if (own.isEmpty()) {
            return watch(session);
        }
        Watch dropped = any(own);
        return Steps.dropWatch(session, dropped.path(), dropped.name());
    }

    private List<Watch> ownWatches(int session) {
        return watches.stream().filter(watch -> watch.session() == session).toList();
    }

    private Step comeOrGo(int session) {
        if (open.size() == SESSIONS) {
            open.remove((Integer) session);
            return Steps.close(session);
        }
        open.add(opened++);
        return Steps.open(session);
    }

    private Step atTheRoot(int session) {
        return switch (random.nextInt(4)) {
            case 0 -> Steps.delete(session, "/");
            case 1 -> Steps.createContainer(session, "/", any(ACLS));
            case 2 -> Steps.multi(session, "delete /", List.of(Op.delete("/", -1)));
            default -> Steps.multi(session, "check /", List.of(Op.check("/", 0), Op.check("/", 1)));
        };
    }

    private Step writes(int session) {
        List<String> texts = new ArrayList<>();
        List<Op> operations = new ArrayList<>();
        for (int count = 1 + random.nextInt(4); count > 0; count--) {
            String path = path();
            int version = version(path);
            switch (random.nextInt(6)) {
                case 0 -> {
                    operations.add(Op.check(path, version));
                    texts.add("check " + path + " " + version);
                }
                case 1 -> {
                    operations.add(Op.delete(path, version));
                    texts.add("delete " + path + " " + version);
                }
                case 2 -> {
                    operations.add(Op.setData(path, data(), version));
                    texts.add("setData " + path + " " + version);
                }
                default -> {
                    CreateMode mode = any(modes);
                    String made = mode.isSequential() ? prefix() : fresh();
                    operations.add(Op.create(made, data(), any(ACLS), mode));
                    texts.add("create " + mode + " " + made);
                }
            }
        }
        return Steps.multi(session, texts.toString(), operations);
    }

    private Step reads(int session) {
        List<String> texts = new ArrayList<>();
        List<Op> operations = new ArrayList<>();
        for (int count = 1 + random.nextInt(3); count > 0; count--) {
            String path = path();
            boolean list = random.nextBoolean();
            operations.add(list ? Op.getChildren(path) : Op.getData(path));
            texts.add((list ? "getChildren " : "getData ") + path);
        }
        return Steps.multi(session, texts.toString(), operations);
    }

    /** A node that is there, most of the time. */
    private String path() {
        return random.nextInt(8) == 0 || nodes().isEmpty() ? fresh() : any(new ArrayList<>(nodes().keySet()));
    }

    /** A node that may be there or not, below one that may be there or not. */
    private String fresh() {
        return parent() + "/" + any(List.of("a", "b", "c"));
    }

    private String prefix() {
        return parent() + "/" + any(List.of("", "x-", "y-", "a"));
    }

    private String parent() {
        if (random.nextInt(8) == 0) {
            return base + "/" + any(List.of("a", "none", "none/none"));
        }
        List<String> shallow = nodes().keySet().stream()
                .filter(path -> path.length() < base.length() + 20)
                .toList();
        return shallow.isEmpty() ? base : any(shallow);
    }

    /** The right one, most of the time. */
    private int version(String path) {
        int kind = random.nextInt(10);
        TreeNode node = nodes().get(path);
        return kind == 0 ? random.nextInt(3) : kind == 1 || node == null ? -1 : node.version();
    }

    private SortedMap<String, TreeNode> nodes() {
        return model.nodes(base);
    }

    private byte[] data() {
        return "d".repeat(random.nextInt(4)).getBytes(UTF_8);
    }

    private <T> T any(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** The operations of the port as steps, with how their answers are shown. */
final class Steps {
    private Steps() {}

    static Step open(int session) {
        return new Step(session, "opens another session", (player, ops, answer) -> {
            player.open();
            answer.accept(() -> "opened");
        });
    }

    static Step close(int session) {
        return new Step(session, "closes", (player, ops, answer) -> {
            player.close(session);
            answer.accept(() -> "closed");
        });
    }

    static Step reap(int session) {
        return new Step(session, "has empty containers removed", (player, ops, answer) -> {
            player.reapContainers();
            answer.accept(() -> "removed");
        });
    }

    static Step createEphemeralSequential(int session, String prefix, byte[] data, List<ACL> acl) {
        return new Step(
                session,
                "createEphemeralSequential " + prefix,
                (player, ops, answer) -> ops.createEphemeralSequential(
                        prefix,
                        data,
                        acl,
                        told -> answer.accept(
                                shown(told, created -> created.path() + " " + shown(player, created.stat())))));
    }

    static Step createContainer(int session, String path, List<ACL> acl) {
        return new Step(
                session,
                "createContainer " + path,
                (player, ops, answer) ->
                        ops.createContainer(path, acl, told -> answer.accept(shown(told, made -> made))));
    }

    static Step children(int session, String path) {
        return new Step(
                session,
                "children " + path,
                (player, ops, answer) -> ops.children(
                        path,
                        told -> answer.accept(shown(
                                told,
                                children -> new TreeSet<>(children.names()) + " " + shown(player, children.stat())))));
    }

    static Step read(int session, String path) {
        return new Step(
                session,
                "read " + path,
                (player, ops, answer) -> ops.read(path, told -> answer.accept(content(player, told))));
    }

    static Step acl(int session, String path) {
        return new Step(
                session,
                "acl " + path,
                (player, ops, answer) -> ops.acl(
                        path,
                        told -> answer.accept(
                                shown(told, access -> access.acl() + " " + shown(player, access.stat())))));
    }

    static Step readAndWatch(int session, String path, String watch) {
        return new Step(
                session,
                "readAndWatch " + path + " with " + watch,
                (player, ops, answer) -> ops.readAndWatch(
                        path, player.watch(session, watch), told -> answer.accept(content(player, told))));
    }

    static Step watchChildren(int session, String path, String watch) {
        return new Step(
                session,
                "watchChildren " + path + " with " + watch,
                (player, ops, answer) -> ops.watchChildren(
                        path,
                        player.watch(session, watch),
                        told -> answer.accept(shown(told, names -> new TreeSet<>(names).toString()))));
    }

    static Step leave() {
        return new Step(0, "loses its connection", (player, ops, answer) -> {
            player.side().leave();
            answer.accept(() -> "away");
        });
    }

    static Step comeBack() {
        return new Step(0, "connects again", (player, ops, answer) -> {
            player.side().comeBack();
            answer.accept(() -> "back");
        });
    }

    /** Has no answer; but the one to the next request comes afterwards. */
    static Step dropWatch(int session, String path, String watch) {
        return new Step(session, "dropWatch " + path + " with " + watch, (player, ops, answer) -> {
            ops.dropWatch(path, player.watch(session, watch));
            ops.read(path, told -> answer.accept(content(player, told)));
        });
    }

    static Step delete(int session, String path) {
        return new Step(
                session,
                "delete " + path,
                (player, ops, answer) -> ops.delete(path, told -> answer.accept(shown(told, gone -> gone))));
    }

    static Step multi(int session, String text, List<Op> operations) {
        return new Step(
                session,
                "multi of " + text,
                (player, ops, answer) -> ops.multi(
                        operations,
                        told -> answer.accept(() -> {
                            List<OpResult> results = told.valueOrNull();
                            return told.code() + " " + (results == null ? "without results" : shown(player, results));
                        })));
    }

    private static Supplier<String> content(Player player, Answer<Content> told) {
        return shown(told, content -> text(content.data()) + " " + shown(player, content.stat()));
    }

    private static <T> Supplier<String> shown(Answer<T> told, Function<T, String> value) {
        return () -> told.code() + (told.valueOrNull() == null ? "" : " " + value.apply(told.value()));
    }

    private static String shown(Player player, List<OpResult> results) {
        return results.stream().map(result -> shown(player, result)).collect(Collectors.joining("; ", "[", "]"));
    }

    private static String shown(Player player, OpResult result) {
        if (result instanceof CreateResult create) {
            return "created " + create.getPath() + " " + shown(player, create.getStat());
        } else if (result instanceof SetDataResult set) {
            return "set " + shown(player, set.getStat());
        } else if (result instanceof GetChildrenResult list) {
            return "children " + new TreeSet<>(list.getChildren());
        } else if (result instanceof GetDataResult read) {
            return "data " + text(read.getData()) + " " + shown(player, read.getStat());
        } else if (result instanceof ErrorResult error) {
            return "error " + error.getErr();
        }
        return result.getClass().getSimpleName();
    }

    private static String text(byte @Nullable [] data) {
        return data == null ? "null" : "'" + new String(data, UTF_8) + "'";
    }

    private static String shown(Player player, @Nullable Stat stat) {
        return stat == null
                ? "without stat"
                : String.format(
                        "(created in %d, changed in %d, children in %d, v%d, c%d, a%d, %d bytes, %d children, of %s)",
                        player.stepOf(stat.getCzxid()),
                        player.stepOf(stat.getMzxid()),
                        player.stepOf(stat.getPzxid()),
                        stat.getVersion(),
                        stat.getCversion(),
                        stat.getAversion(),
                        stat.getDataLength(),
                        stat.getNumChildren(),
                        player.ownerOf(stat.getEphemeralOwner()));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Money goes from one account to another, each a file, under the locks of both, named in whatever order. */
final class MultiLockShow implements Show {
    static final int ACCOUNTS = 6;
    private static final long BALANCE = 1000;

    @Override
    public String intro() {
        return "lock two of " + ACCOUNTS + " accounts in any order, move money between them";
    }

    @Override
    public String rule() {
        return "no account held twice, no deadlock";
    }

    @Override
    public boolean mayBeTogether(Collection<String> shares) {
        Set<String> held = new HashSet<>();
        return shares.stream().flatMap(share -> Stream.of(share.split(",", -1))).allMatch(held::add);
    }

    @Override
    public long size(Collection<String> shares) {
        return shares.size();
    }

    @Override
    public void prepare(Path folder) throws IOException {
        for (int account = 0; account < ACCOUNTS; account++) {
            write(folder, account, BALANCE);
        }
    }

    @Override
    public List<Check> evidence(Path folder) throws IOException {
        long sum = 0;
        for (int account = 0; account < ACCOUNTS; account++) {
            sum += read(folder, account);
        }
        long expected = ACCOUNTS * BALANCE;
        return List.of(new Check(
                sum == expected,
                "money",
                sum + " in all accounts" + (sum == expected ? ", as in the beginning" : ", and it was " + expected)));
    }

    @Override
    public Player player(ZooKeeperClient client, String lockPath, Path folder) {
        List<Integer> accounts =
                new ArrayList<>(IntStream.range(0, ACCOUNTS).boxed().toList());
        return alone -> {
            Collections.shuffle(accounts);
            List<Integer> chosen = List.copyOf(accounts.subList(0, alone ? ACCOUNTS : 2));
            InterProcessMultiLock lock = new InterProcessMultiLock(
                    client,
                    chosen.stream().map(account -> lockPath + "/" + account).toList());
            return new Act(
                    lock,
                    String.join(",", chosen.stream().map(String::valueOf).toList()),
                    (lease, presence) -> move(folder, chosen.get(0), chosen.get(1)));
        };
    }

    private static void move(Path folder, int from, int to) throws IOException {
        long amount = ThreadLocalRandom.current().nextLong(1, 10);
        long had = read(folder, from);
        long has = read(folder, to);
        write(folder, from, had - amount);
        write(folder, to, has + amount);
    }

    private static long read(Path folder, int account) throws IOException {
        return Long.parseLong(Files.readString(file(folder, account)));
    }

    private static void write(Path folder, int account, long balance) throws IOException {
        Files.writeString(file(folder, account), String.valueOf(balance));
    }

    private static Path file(Path folder, int account) {
        return folder.resolve("account-" + account);
    }
}
